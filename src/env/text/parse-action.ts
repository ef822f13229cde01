import { areArgumentsOf, functionsOf } from './action-functions.ts';
import type { ActionFunction, TextEnvironmentFamily } from './environment.ts';
import { readCodeCall } from './read-code-call.ts';
import { readFunctionCall } from './read-function-call.ts';

/** Forms of a reply, as AgentGym names them. */
export const ACTION_FORMATS = ['react', 'function_calling', 'code_as_action'] as const;
export type ActionFormat = (typeof ACTION_FORMATS)[number];

/** What is wrong with a reply that has no action to do. */
export type ReplyProblem = 'none' | 'several' | 'malformed';

export type ParsedReply =
  | { thought: string; action: string }
  /** To be answered by `observation` with reward 0; the environment is not asked. */
  | { problem: ReplyProblem; observation: string };

/** The answers to replies without an action. Fixed texts: nothing is read into such a reply. */
export const REPLY_ANSWERS: Readonly<Record<ActionFormat, Readonly<Record<ReplyProblem, string>>>> = {
  react: {
    none: "Error: No 'Action' was found in your response. Please adjust your response.",
    // The one that AgentGym has, in its words.
    several: "Error: Only one 'Action' is allowed per response. Please adjust your response.",
    malformed: "Error: The 'Action' could not be read. Please adjust your response.",
  },
  function_calling: {
    none: 'Error: No function call was found in your response. Please adjust your response.',
    several: 'Error: Only one function call is allowed per response. Please adjust your response.',
    malformed: 'Error: The function call could not be read. Please adjust your response.',
  },
  code_as_action: {
    none: 'Error: No code block was found in your response. Please adjust your response.',
    several: 'Error: Only one function call is allowed per response. Please adjust your response.',
    malformed: 'Error: The code is not one call of a known function. Please adjust your response.',
  },
};

/** Letters, digits, commas and single spaces: what AgentGym's clients leave of an action for TextCraft and BabyAI. */
export const plainAction = (action: string): string =>
  action
    .replace(/[^A-Za-z0-9, ]+/g, '')
    .split(' ')
    .filter((word) => word !== '')
    .join(' ');

export interface ParseOptions {
  /** Leave the action's characters as they are, for worlds whose actions have marks: "search[red shoes]". */
  keepMarks?: boolean;
}

const ACTION_LINE = /Action:\s*(.*?)(?=\n|$)/gs;

type Read = { thought: string; action: string } | ReplyProblem;

/** The line after "Action:". The thought is what stands before it, without its own heading. */
function readReact(reply: string): Read {
  const found = [...reply.matchAll(ACTION_LINE)];
  if (found.length > 1) return 'several';
  const [match] = found;
  if (match === undefined) return 'none';
  const thought = reply.slice(0, match.index).replace(/^\s*Thought:/, '');
  return { thought: thought.trim(), action: (match[1] as string).trim() };
}

interface Call {
  thought: string;
  name: string;
  /** By parameter, or in their order. */
  args: Readonly<Record<string, unknown>> | readonly unknown[];
}

/** The action of a call; malformed for an unknown function or arguments that are not its own. */
function actionOfCall(call: Call | ReplyProblem, functions: readonly ActionFunction[]): Read {
  if (typeof call === 'string') return call;
  const called = functions.find(({ name }) => name === call.name);
  if (called === undefined) return 'malformed';
  let named = call.args;
  if (Array.isArray(named)) {
    if (named.length !== called.parameters.length) return 'malformed';
    named = Object.fromEntries(named.map((value, i) => [called.parameters[i]?.name, value]));
  }
  const args = named as Readonly<Record<string, unknown>>;
  if (!areArgumentsOf(called, args)) return 'malformed';
  return { thought: call.thought, action: called.toAction(args) };
}

function read(reply: string, format: ActionFormat, functions: readonly ActionFunction[]): Read {
  switch (format) {
    case 'react':
      return readReact(reply);
    case 'function_calling':
      return actionOfCall(readFunctionCall(reply), functions);
    case 'code_as_action':
      return actionOfCall(readCodeCall(reply), functions);
  }
}

/** The action in an agent's reply, or the fixed answer to a reply that has none. */
export function parseAction(
  reply: string,
  format: ActionFormat,
  family: Pick<TextEnvironmentFamily, 'functions'> = {},
  { keepMarks = false }: ParseOptions = {},
): ParsedReply {
  const found = read(reply, format, functionsOf(family));
  if (typeof found === 'string') return { problem: found, observation: REPLY_ANSWERS[format][found] };
  const action = keepMarks ? found.action : plainAction(found.action);
  if (action === '') return { problem: 'none', observation: REPLY_ANSWERS[format].none };
  return { thought: found.thought, action };
}

/** Replies by outcome. */
export type ReplyCounts = Record<'read' | ReplyProblem, number>;

/** A parser that counts what it reads, for the reports of a run. */
export function createActionParser(
  format: ActionFormat,
  family: Pick<TextEnvironmentFamily, 'functions'> = {},
  options: ParseOptions = {},
): { parse(reply: string): ParsedReply; readonly counts: Readonly<ReplyCounts> } {
  const counts: ReplyCounts = { read: 0, none: 0, several: 0, malformed: 0 };
  return {
    counts,
    parse(reply) {
      const parsed = parseAction(reply, format, family, options);
      counts['problem' in parsed ? parsed.problem : 'read']++;
      return parsed;
    },
  };
}
