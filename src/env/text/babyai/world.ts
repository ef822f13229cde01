import type { TextObservation } from '../environment.ts';
import type { World } from '../world.ts';
import { barrierOf, CHECK_ACTIONS, type Choices, choicesOf, sightsOf } from './actions.ts';
import { Episode, type Level } from './episode.ts';
import type { Grid } from './grid.ts';
import { missionText } from './mission.ts';
import { seenCells } from './view.ts';

/** Where something is, in AgentGym's words. */
function whereabouts(front: number, right: number): string {
  if (right === 0) return `right in front of you ${front} steps away.`;
  return `${front} steps in front of you and ${Math.abs(right)} steps to your ${right > 0 ? 'right' : 'left'}.`;
}

/** What the agent sees and carries, in AgentGym's words and spaces, and what it can do. */
export function describe(grid: Grid): { text: string; choices: Choices } {
  const seen = seenCells(grid);
  const sights = sightsOf(grid, seen);
  const anything = seen.some(({ content }) => content !== 0);
  const things = anything
    ? `In front of you in this room, you can see several objects: ${sights
        .map(({ name, front, right }) => `There is a ${name} ${whereabouts(front, right)}  `)
        .join('')}`
    : 'You cannot see any objects within sight.';
  const barrier = barrierOf(grid, seen);
  const facing =
    barrier === undefined ? '' : `You are facing a ${barrier.name} ${barrier.front} steps away. `;
  const held = grid.things[grid.carrying];
  const carrying =
    held === undefined ? 'You are not carrying anything.' : `You are carrying a ${held.colour} ${held.kind}.`;
  return {
    text: `${things}The room has walls around you. ${facing}${carrying}`,
    choices: choicesOf(grid, seen, sights),
  };
}

const listed = (text: string, { possible }: Choices): string =>
  `${text}\nAvailable actions: [${[...possible.keys()].map((action) => `"${action}"`).join(', ')}]`;

/**
 * BabyAI in words. An action in words is one or several of MiniGrid's; it ends at the first that changes nothing, and
 * when the mission is done. An action that is not carried out is a step of MiniGrid's time.
 */
export class BabyAiWorld implements World {
  readonly opening: string;
  readonly #episode: Episode;
  #choices: Choices;

  constructor(level: Level) {
    this.#episode = new Episode(level);
    const { text, choices } = describe(this.#episode.grid);
    this.#choices = choices;
    this.opening = `Your goal: ${missionText(level.mission)}\n${listed(text, choices)}`;
  }

  act(action: string): TextObservation {
    const text = this.#do(
      action
        .trim()
        .toLowerCase()
        .replace(/^pick up /, 'pickup '),
    );
    const { verdict, reward, over } = this.#episode;
    const ends = {
      success: '\n The task is completed.',
      failure: '\n The task has failed.',
      timeout: '\n The steps are used up.',
      continue: '',
    };
    return { text: listed(`${text}${ends[verdict]}`, this.#choices), reward, done: over };
  }

  availableActions(): string[] {
    return [...this.#choices.possible.keys()];
  }

  #do(action: string): string {
    const episode = this.#episode;
    const lowActions = this.#choices.possible.get(action);
    if (lowActions === undefined || lowActions.length === 0) {
      episode.wait();
      if (action === CHECK_ACTIONS)
        return `You can take the following actions: ${this.availableActions().join(', ')}`;
      if (lowActions !== undefined || action === '') return 'No change in state.';
      return this.#choices.refused.get(action) ?? 'The action is not recognized. Please check valid actions.';
    }
    episode.act(lowActions);
    const { text, choices } = describe(episode.grid);
    this.#choices = choices;
    return text;
  }
}
