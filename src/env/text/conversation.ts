import { callFor, functionsOf, functionTool } from './action-functions.ts';
import type { ActionArguments, TextEnvironmentFamily } from './environment.ts';
import type { ActionFormat } from './parse-action.ts';

/** A message of a conversation, in the form of AgentTraj: loss says whether it is learned from. */
export type ConversationMessage =
  /** Instructions and observations. */
  | { from: 'human'; loss: null | false; value: string }
  /** The agent. */
  | { from: 'gpt'; loss: boolean; value: string };

/** The agent's first message, which AgentGym puts into its mouth. */
export const ACKNOWLEDGEMENT = "OK. I'll follow your instructions and try my best to solve the task.";

/** How a reply is to be written. */
export function formatInstructions(family: TextEnvironmentFamily, format: ActionFormat): string {
  const tools = (): string =>
    functionsOf(family)
      .map((one) => JSON.stringify(functionTool(one)))
      .join('\n');
  switch (format) {
    case 'react':
      return 'Write each reply in this form, with one action:\nThought:\nyour thoughts\n\nAction:\nyour action';
    case 'function_calling':
      return `You act by calling one of these functions:\n${tools()}\nWrite each reply as one JSON object and nothing else:\n{"thought": "your thoughts", "function_name": "name", "arguments": {}}`;
    case 'code_as_action':
      return `You act by calling one of these Python functions:\n${tools()}\nWrite each reply as your thoughts and then one block of code that holds one call with literal arguments:\n\`\`\`python\nname(arguments)\n\`\`\``;
  }
}

/** The messages that stand before the first observation: instructions (no loss) and acknowledgement (loss false). */
export function conversationStart(
  family: TextEnvironmentFamily,
  format: ActionFormat = 'react',
): [ConversationMessage, ConversationMessage] {
  const value = `${family.instructions}\n\n${formatInstructions(family, format)}`;
  return [
    { from: 'human', loss: null, value },
    { from: 'gpt', loss: false, value: ACKNOWLEDGEMENT },
  ];
}

const codeArguments = (args: ActionArguments): string =>
  Object.values(args)
    .map((value) => JSON.stringify(value))
    .join(', ');

/** A reply in a format; parseAction reads the same action from it. */
export function writeReply(
  family: Pick<TextEnvironmentFamily, 'functions'>,
  format: ActionFormat,
  thought: string,
  action: string,
): string {
  if (format === 'react') return `Thought:\n${thought}\n\nAction:\n${action}`;
  const { called, args } = callFor(functionsOf(family), action);
  if (format === 'function_calling') {
    return JSON.stringify({ thought, function_name: called.name, arguments: args });
  }
  return `${thought}\n\`\`\`python\n${called.name}(${codeArguments(args)})\n\`\`\``;
}
