import { ConfigError } from '../../../../core/index.ts';
import type { TextEnvironment, TextEnvironmentFamily } from '../../environment.ts';
import { TEXT_FAMILIES } from '../../families.ts';
import { checkTask } from '../../world.ts';
import { serverAddress } from './address.ts';
import { type AgentGymCounts, newCounts } from './counts.ts';
import { type RemoteContext, RemoteEnvironment } from './environment.ts';
import { createExchange } from './exchange.ts';
import { AGENTGYM_INSTRUCTIONS } from './instructions.ts';
import { Limiter } from './limiter.ts';
import { AGENTGYM_NAMES, type AgentGymName } from './protocol.ts';
import { AGENTGYM_PROTOCOLS } from './protocols.ts';

export interface AgentGymOptions {
  environment: AgentGymName;
  /** Where the server listens: http://127.0.0.1:36001. */
  baseUrl: string;
  /** Number of tasks. Needed where the server's own data decide it. */
  tasks?: number;
  /** The rules that an agent is told. */
  instructions?: string;
  /** For the whole reply to a step. */
  stepTimeoutMs?: number;
  /** For making an instance, and for beginning a task. */
  openTimeoutMs?: number;
  closeTimeoutMs?: number;
  /** Fresh instances that are tried in the place of one that failed, for each reset and each step. */
  retries?: number;
  /** Before the first fresh instance; doubles from one to the next. */
  firstDelayMs?: number;
  /** Requests in flight, of all environments together. */
  concurrency?: number;
  /** Whether a step that failed is repeated on a fresh instance. By default as the environment's world allows. */
  replay?: boolean;
  /** Ends requests and pauses; instances are closed all the same. */
  signal?: AbortSignal;
}

/** A family whose worlds are on a server. */
export interface AgentGymFamily extends TextEnvironmentFamily {
  readonly counts: Readonly<AgentGymCounts>;
  /** For the parser of replies: the actions have marks of their own. */
  readonly keepMarks: boolean;
  create(): TextEnvironment;
  /** Closes every instance that is still open, and waits for closings under way. */
  close(): Promise<void>;
}

function taskCount(environment: AgentGymName, given: number | undefined, known: number | null): number {
  const tasks = given ?? known;
  if (tasks === null) {
    throw new ConfigError(`the number of tasks of ${environment} is not known`, {
      hint: "it is a matter of the server's data: give it as tasks",
    });
  }
  if (Number.isSafeInteger(tasks) && tasks > 0) return tasks;
  throw new ConfigError(`the number of tasks is ${tasks}`, { hint: 'give a whole number of 1 or more' });
}

/** Environments of one kind on an AgentGym server. ConfigError for an address or a number of tasks that cannot be. */
export function createAgentGymFamily(options: AgentGymOptions): AgentGymFamily {
  const { environment: name, baseUrl, retries = 2, firstDelayMs = 500, concurrency = 64, signal } = options;
  if (!AGENTGYM_NAMES.includes(name)) {
    throw new ConfigError(`there is no AgentGym environment ${name}`, {
      hint: `choose one of ${AGENTGYM_NAMES.join(', ')}`,
    });
  }
  const protocol = AGENTGYM_PROTOCOLS[name];
  const tasks = taskCount(name, options.tasks, protocol.tasks);
  const counts = newCounts();
  const context: RemoteContext = {
    environment: name,
    protocol,
    exchange: createExchange(serverAddress(baseUrl, protocol.prefix)),
    limiter: new Limiter(concurrency),
    counts,
    limits: {
      openTimeoutMs: options.openTimeoutMs ?? 300_000,
      stepTimeoutMs: options.stepTimeoutMs ?? 60_000,
      closeTimeoutMs: options.closeTimeoutMs ?? 10_000,
    },
    signal,
    retries,
    firstDelayMs,
    replay: options.replay ?? protocol.replay,
    open: new Set(),
    closing: new Set(),
  };
  const native: Pick<TextEnvironmentFamily, 'functions'> = Object.hasOwn(TEXT_FAMILIES, name)
    ? TEXT_FAMILIES[name as keyof typeof TEXT_FAMILIES]
    : {};
  return {
    name,
    tasks,
    instructions: options.instructions ?? AGENTGYM_INSTRUCTIONS[name],
    ...(native.functions === undefined ? {} : { functions: native.functions }),
    counts,
    keepMarks: protocol.keepMarks,
    group: (task) => {
      checkTask(name, tasks, task);
      return protocol.group?.(task) ?? name;
    },
    create: () => {
      const remote = new RemoteEnvironment(context);
      return {
        reset: async (task, seed) => {
          checkTask(name, tasks, task);
          return remote.reset(task, seed);
        },
        step: (action) => remote.step(action),
        availableActions: () => remote.availableActions(),
        close: () => remote.close(),
      };
    },
    // What solves a task is known to the server alone.
    expert: (task) => {
      checkTask(name, tasks, task);
      return null;
    },
    close: async () => {
      const open = [...context.open];
      context.open.clear();
      const closings = open.map((instance) =>
        instance.close().catch(() => {
          counts.closeFailures++;
        }),
      );
      await Promise.all([...closings, ...context.closing]);
    },
  };
}
