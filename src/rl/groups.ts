import { ConfigError } from '../core/index.ts';

/**
 * Positions of the members of each group, in order of first appearance. Groups are known by prompt id, never
 * by position, so that shuffling, dropping or repeating samples cannot mix them.
 */
export function groupById(groupIds: readonly string[]): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  groupIds.forEach((id, i) => {
    const members = groups.get(id);
    if (members === undefined) groups.set(id, [i]);
    else members.push(i);
  });
  return groups;
}

/** The items of each group, in order of first appearance. */
export function groupByPrompt<T>(items: readonly T[], promptId: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const [id, members] of groupById(items.map(promptId))) {
    groups.set(
      id,
      members.map((i) => items[i] as T),
    );
  }
  return groups;
}

/** A group needs at least two samples to be compared. */
export function requireGroupSize(groupSize: number): void {
  if (!Number.isInteger(groupSize) || groupSize < 2) {
    throw new ConfigError(`group size is ${groupSize}, allowed is an integer >= 2`, {
      hint: 'a sample is judged against the others of its prompt, so sample each prompt at least twice',
    });
  }
}
