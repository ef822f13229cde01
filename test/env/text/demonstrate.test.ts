import { describe, expect, it } from 'vitest';
import {
  ACKNOWLEDGEMENT,
  ACTION_FORMATS,
  act,
  conversationStart,
  createMaze,
  demonstrate,
  parseAction,
  TEXT_FAMILIES,
  type TextEnvironmentFamily,
  trajectorySchema,
  writeReply,
} from '../../../src/env/text/index.ts';

const maze = createMaze();

describe('conversationStart', () => {
  it('has the instructions, not learned from, and AgentGym’s acknowledgement, loss false', () => {
    const [instructions, acknowledgement] = conversationStart(maze);
    expect(instructions).toMatchObject({ from: 'human', loss: null });
    expect(instructions.value).toBe(
      `${maze.instructions}\n\nWrite each reply in this form, with one action:\nThought:\nyour thoughts\n\nAction:\nyour action`,
    );
    expect(acknowledgement).toEqual({ from: 'gpt', loss: false, value: ACKNOWLEDGEMENT });
  });

  it('describes the functions as tools, required and closed', () => {
    const [{ value }] = conversationStart(maze, 'function_calling');
    const tool = value.split('\n').find((line) => line.startsWith('{"type":"function"'));
    expect(JSON.parse(tool ?? '')).toEqual({
      type: 'function',
      function: {
        name: 'move',
        description: 'go one step',
        parameters: {
          type: 'object',
          properties: { direction: { type: 'string', description: 'left, right, up or down' } },
          required: ['direction'],
          additionalProperties: false,
        },
      },
    });
  });
});

describe('writeReply', () => {
  it.each([
    ['react', 'Thought:\nI "see".\n\nAction:\nmove left'],
    [
      'function_calling',
      '{"thought":"I \\"see\\".","function_name":"move","arguments":{"direction":"left"}}',
    ],
    ['code_as_action', 'I "see".\n```python\nmove("left")\n```'],
  ] as const)('%s', (format, expected) => {
    expect(writeReply(maze, format, 'I "see".', 'move left')).toBe(expected);
  });

  it('names an action that no function stands for', () => {
    expect(() => writeReply(maze, 'code_as_action', '', 'fly')).toThrow(
      'no function stands for the action "fly"',
    );
  });

  it('wraps the action where a family names no functions', () => {
    const reply = writeReply({ functions: [act] }, 'code_as_action', '', 'go to red ball 1');
    expect(reply).toBe('\n```python\nact("go to red ball 1")\n```');
    expect(parseAction(reply, 'code_as_action')).toMatchObject({ action: 'go to red ball 1' });
  });
});

describe('demonstrate', () => {
  it('is an AgentTraj item: observations and the expert’s replies in turn', async () => {
    // Start (7, 6): one step above the goal.
    const task = 18;
    expect(await demonstrate(maze, task)).toEqual({
      item_id: 'maze_18',
      reward: 1,
      conversations: [
        ...conversationStart(maze),
        {
          from: 'human',
          loss: null,
          value:
            'The goal is at position 8, 6. Your current position is at position 7, 6. There are walls to your right, to your left.',
        },
        {
          from: 'gpt',
          loss: true,
          value:
            'Thought:\nI am at 7, 6 and the goal is at 8, 6: the shortest way goes down.\n\nAction:\nmove down',
        },
      ],
    });
  });

  it.each(ACTION_FORMATS)(
    'replayed through the parser in the form %s, it solves its task',
    async (format) => {
      for (const family of Object.values(TEXT_FAMILIES) as TextEnvironmentFamily[]) {
        for (let i = 0; i < 25; i++) {
          const task = Math.floor((i * family.tasks) / 25);
          const trajectory = await demonstrate(family, task, { format, seed: 4 });
          if (trajectory === null) continue;
          expect(trajectorySchema.safeParse(trajectory).error).toBeUndefined();
          const environment = family.create();
          let observation = await environment.reset(task, 4);
          for (let turn = 2; turn < trajectory.conversations.length; turn += 2) {
            expect(observation.text).toBe(trajectory.conversations[turn]?.value);
            const parsed = parseAction(trajectory.conversations[turn + 1]?.value ?? '', format, family);
            observation = await environment.step('action' in parsed ? parsed.action : '');
          }
          expect(observation, `${family.name} ${task}`).toMatchObject({ done: true });
          expect(observation.reward).toBe(trajectory.reward);
        }
      }
    },
  );

  it('is null for a task without a solution', async () => {
    expect(await demonstrate({ ...maze, expert: () => null }, 0)).toBeNull();
  });

  it('never passes off an episode that failed', async () => {
    const lost = { ...maze, expert: () => ['move up'] };
    await expect(demonstrate(lost, 0)).rejects.toThrow('environment maze: the expert does not solve task 0');
  });
});
