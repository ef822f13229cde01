import { type ConversationMessage, conversationStart, writeReply } from './conversation.ts';
import type { TextEnvironmentFamily } from './environment.ts';
import { EnvironmentFailure } from './failure.ts';
import type { ActionFormat } from './parse-action.ts';
import { itemIdOf, type Trajectory } from './trajectories.ts';

export interface DemonstrationOptions {
  format?: ActionFormat;
  seed?: number;
}

/**
 * The expert's episode as an AgentTraj item: instructions, acknowledgement, then observation and reply in turn; the
 * replies are learned from. null where the task has no solution. An expert that does not succeed is an
 * EnvironmentFailure: world and expert disagree.
 */
export async function demonstrate(
  family: TextEnvironmentFamily,
  task: number,
  { format = 'react', seed }: DemonstrationOptions = {},
): Promise<Trajectory | null> {
  const actions = family.expert(task, seed);
  if (actions === null) return null;
  const reasons = family.reasons?.(task, seed) ?? [];
  const conversations: ConversationMessage[] = [...conversationStart(family, format)];
  const environment = family.create();
  try {
    let observation = await environment.reset(task, seed);
    for (const [i, action] of actions.entries()) {
      const reply = writeReply(family, format, reasons[i] ?? `Next: ${action}.`, action);
      conversations.push({ from: 'human', loss: null, value: observation.text });
      conversations.push({ from: 'gpt', loss: true, value: reply });
      observation = await environment.step(action);
    }
    if (!observation.done || observation.reward <= 0) {
      throw new EnvironmentFailure(family.name, `the expert does not solve task ${task}`, {
        reason: 'malformed',
      });
    }
    return { conversations, item_id: itemIdOf(family.name, task), reward: observation.reward };
  } finally {
    await environment.close();
  }
}
