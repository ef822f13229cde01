import { z } from 'zod';

export interface NamedCall {
  thought: string;
  name: string;
  args: Readonly<Record<string, unknown>>;
}

const argumentsSchema = z.record(z.string(), z.unknown());

/** AgentGym's form, with its older key for the arguments, and the form of Qwen's tool calls. */
const callSchema = z.union([
  z
    .strictObject({ thought: z.string().default(''), function_name: z.string(), arguments: argumentsSchema })
    .transform((call) => ({ thought: call.thought, name: call.function_name, args: call.arguments })),
  z
    .strictObject({ thought: z.string().default(''), function_name: z.string(), args: argumentsSchema })
    .transform((call) => ({ thought: call.thought, name: call.function_name, args: call.args })),
  z
    .strictObject({ name: z.string(), arguments: argumentsSchema })
    .transform((call) => ({ thought: '', name: call.name, args: call.arguments })),
]);

const FENCED = /```(?:json)?[ \t]*\n(.*?)```|<tool_call>(.*?)<\/tool_call>/gs;

/**
 * A call as JSON: the whole reply, or one block of it (```json ... ``` or <tool_call> ... </tool_call>); the text
 * before the block is the thought, where the object has none.
 */
export function readFunctionCall(reply: string): NamedCall | 'none' | 'several' | 'malformed' {
  const blocks = [...reply.matchAll(FENCED)];
  if (blocks.length > 1) return 'several';
  const [block] = blocks;
  const text = (block === undefined ? reply : (block[1] ?? block[2] ?? '')).trim();
  if (block === undefined && !text.startsWith('{')) return 'none';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'malformed';
  }
  const parsed = callSchema.safeParse(value);
  if (!parsed.success) return 'malformed';
  const { thought, name, args } = parsed.data;
  return { thought: thought || (block === undefined ? '' : reply.slice(0, block.index).trim()), name, args };
}
