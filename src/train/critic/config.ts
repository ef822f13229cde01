import { z } from 'zod';

/** The value head of PPO, which GAE needs. Settings of the advantage `gae` alone. */
export const criticConfigSchema = z.strictObject({
  coefficient: z.number().positive().default(0.5).describe('of the value loss in the loss'),
  clipRange: z
    .number()
    .positive()
    .nullable()
    .default(0.2)
    .describe(
      'how far a value may move from the old one within a rollout batch; null: the plain squared error',
    ),
  learningRateFactor: z
    .number()
    .positive()
    .default(100)
    .describe('learning rate of the head, as a multiple of the policy’s'),
  detach: z
    .boolean()
    .default(true)
    .describe('keep the gradient of the value loss from the policy: the head alone learns from it'),
});
export type CriticConfig = z.infer<typeof criticConfigSchema>;
