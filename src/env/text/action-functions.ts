import type { ActionArguments, ActionFunction, TextEnvironmentFamily } from './environment.ts';

/** The one function of a family that names none: the action as its text. */
export const act: ActionFunction = {
  name: 'act',
  description: 'do an action',
  parameters: [{ name: 'action', type: 'string', description: 'the action, as the rules write it' }],
  toAction: ({ action }) => String(action),
  fromAction: (action) => ({ action }),
};

export const functionsOf = (family: Pick<TextEnvironmentFamily, 'functions'>): readonly ActionFunction[] =>
  family.functions ?? [act];

/** A function's description as a JSON Schema tool, as chat models read it. */
export function functionTool({ name, description, parameters }: ActionFunction): object {
  const properties = parameters.map((one) => [one.name, { type: one.type, description: one.description }]);
  return {
    type: 'function',
    function: {
      name,
      description,
      parameters: {
        type: 'object',
        properties: Object.fromEntries(properties),
        required: parameters.map((one) => one.name),
        additionalProperties: false,
      },
    },
  };
}

/** Whether the arguments are exactly a function's: all there, none over, each of its type. */
export function areArgumentsOf(
  { parameters }: ActionFunction,
  args: Readonly<Record<string, unknown>>,
): args is ActionArguments {
  if (Object.keys(args).length !== parameters.length) return false;
  return parameters.every(({ name, type }) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    return type === 'integer' ? Number.isSafeInteger(value) : typeof value === 'string';
  });
}

/** The function and the arguments that stand for an action. Throws for an action that none covers. */
export function callFor(
  functions: readonly ActionFunction[],
  action: string,
): { called: ActionFunction; args: ActionArguments } {
  for (const called of functions) {
    const args = called.fromAction(action);
    if (args !== undefined) return { called, args };
  }
  throw new Error(`no function stands for the action "${action}"`);
}
