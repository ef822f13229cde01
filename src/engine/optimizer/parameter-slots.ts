import * as tf from '@tensorflow/tfjs';

/** Decoupled weight decay and learning-rate multiplier of one parameter. */
export interface ParameterSettings {
  weightDecay: number;
  learningRateMultiplier: number;
}

interface Member {
  name: string;
  shape: number[];
  size: number;
}

/**
 * Parameters that are updated by one set of nodes. A packed slot holds all parameters of equal settings as
 * one flat vector; a separate slot holds a single parameter in its own shape.
 */
export interface ParameterSlot extends ParameterSettings {
  members: Member[];
  /** Shape of the slot's moments: `[total size]` when packed, else the parameter's. */
  shape: number[];
}

/**
 * How parameters share nodes: one flat vector per settings, or each parameter on its own; `sequential` computes these
 * one after the other.
 */
export type SlotLayout = 'packed' | 'separate' | 'sequential';

export function layOutSlots(
  parameters: ReadonlyMap<string, tf.Variable>,
  settingsOf: (name: string, shape: readonly number[]) => ParameterSettings,
  layout: SlotLayout,
): ParameterSlot[] {
  const slots = new Map<string, ParameterSlot>();
  for (const [name, variable] of parameters) {
    const settings = settingsOf(name, variable.shape);
    const key = layout !== 'packed' ? name : `${settings.weightDecay} ${settings.learningRateMultiplier}`;
    const slot = slots.get(key) ?? { ...settings, members: [], shape: [] };
    slot.members.push({ name, shape: variable.shape, size: variable.size });
    slots.set(key, slot);
  }
  for (const slot of slots.values()) {
    const [first] = slot.members as [Member];
    slot.shape =
      slot.members.length === 1 ? first.shape : [slot.members.reduce((sum, { size }) => sum + size, 0)];
  }
  return [...slots.values()];
}

/** The members' tensors as one tensor of the slot's shape. */
export function gatherSlot(slot: ParameterSlot, tensorOf: (name: string) => tf.Tensor): tf.Tensor {
  if (slot.members.length === 1) return tensorOf(slot.members[0]!.name);
  return tf.concat(slot.members.map(({ name }) => tensorOf(name).reshape([-1])));
}

/** The inverse of {@link gatherSlot}: each member's part of a tensor of the slot's shape, in its own shape. */
export function scatterSlot(slot: ParameterSlot, whole: tf.Tensor): Map<string, tf.Tensor> {
  if (slot.members.length === 1) return new Map([[slot.members[0]!.name, whole]]);
  const parts = new Map<string, tf.Tensor>();
  let offset = 0;
  for (const { name, shape, size } of slot.members) {
    parts.set(name, tf.slice(whole, [offset], [size]).reshape(shape));
    offset += size;
  }
  return parts;
}
