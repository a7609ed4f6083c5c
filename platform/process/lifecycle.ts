/** Start and stop of a process: one sentence when it cannot start, an orderly stop, and a deadline for the stop. */

import { describeError } from '#core/contracts/errors.ts';
import { settlesWithin } from './deadline.ts';

/** A running part of the service. */
export type Role = {
  name: string;
  /** The URL that the role serves; null: it serves nothing. */
  address: string | null;
  /** Finishes the work under way, then releases everything. */
  stop(): Promise<void>;
};

/** The parts of the process that a lifecycle uses: passed in, so that tests can watch. */
export type ProcessEdge = {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  exit(code: number): void;
  /** Writes one line for the operator on stderr. */
  writeLine(line: string): void;
};

export type RunRoleOptions = {
  /** Time that `stop` may take before the process ends anyway, in milliseconds. */
  deadlineMs: number;
  /** Stops the role, as a signal does, when it settles: the supervisor is gone. */
  abandoned?: Promise<void>;
  /** Called once the role serves. */
  onReady?(role: Role): void;
  edge?: ProcessEdge;
};

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const SIGNAL_NUMBERS: Partial<Record<NodeJS.Signals, number>> = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

/**
 * Signals this close together are one: npm passes on a Ctrl-C that the terminal has already sent to every process. A person's
 * second Ctrl-C comes later.
 */
const SAME_SIGNAL_MS = 100;

/** This process. */
const processEdge: ProcessEdge = {
  on: (signal, listener) => process.on(signal, listener),
  exit: (code) => process.exit(code),
  writeLine: (line) => process.stderr.write(`${line}\n`),
};

/**
 * Calls `stop` at the first signal, and ends the process at once at the second, with the status a shell gives to a
 * process that died of it.
 */
function onStopSignal(stop: (signal: NodeJS.Signals) => void, edge: ProcessEdge = processEdge): void {
  let firstAt: number | null = null;
  const listener = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (firstAt === null) {
      firstAt = now;
      stop(signal);
    } else if (now - firstAt > SAME_SIGNAL_MS) {
      edge.exit(128 + (SIGNAL_NUMBERS[signal] ?? 0));
    }
  };
  for (const signal of SIGNALS) edge.on(signal, listener);
}

/** Time of a role's own stop beyond `SHUTDOWN_TIMEOUT_MS`, all of which a client may have taken. Then its process is ended. */
export const STOP_GRACE_MS = 4_000;

/** One step of a stop. */
export type StopStep = { what: string; run(): Promise<unknown> };

/**
 * Runs the steps in order, also after one has failed.
 * @throws AggregateError whose message names the failed steps
 */
export async function stopInOrder(steps: readonly StopStep[]): Promise<void> {
  const errors: Error[] = [];
  for (const { what, run } of steps) {
    try {
      await run();
    } catch (cause) {
      errors.push(new Error(`${what}: ${describeError(cause)}`, { cause }));
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => error.message).join('; '));
}

/**
 * Runs the steps at the same time. Steps that a dead PostgreSQL lets run into their bounds then take as long as the longest
 * of them, which has to fit beside a client that kept the port open until the deadline.
 * @throws AggregateError whose message names the failed steps
 */
export async function stopTogether(steps: readonly StopStep[]): Promise<void> {
  const ended = await Promise.allSettled(steps.map((step) => stopInOrder([step])));
  const errors = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
  if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => error.message).join('; '));
}

/** Returns the sentence for an operator whose command failed: never a stack trace. */
export function operatorSentence(error: unknown): string {
  const message = describeError(error).trim();
  if (message !== '') return message.split('\n')[0]!;
  // Node's AggregateError for several refused connections has no message of its own.
  const [first] = error instanceof AggregateError ? error.errors : [];
  return first === undefined ? 'it failed without saying why' : operatorSentence(first);
}

async function stopWithin(role: Role, deadlineMs: number, edge: ProcessEdge): Promise<number> {
  try {
    if (await settlesWithin(role.stop(), deadlineMs)) return 0;
    edge.writeLine(`The ${role.name} did not stop within ${deadlineMs} ms: it ends now`);
  } catch (error) {
    edge.writeLine(`The ${role.name} did not stop cleanly: ${operatorSentence(error)}`);
  }
  return 1;
}

/**
 * Runs a role for the life of the process: starts it, stops it at the first signal, and ends the process with 0 after a clean
 * stop, else 1. A signal during the start stops the role as soon as it has started, or at the deadline.
 */
export async function runRole(start: () => Promise<Role>, options: RunRoleOptions): Promise<void> {
  const edge = options.edge ?? processEdge;
  const stopAsked = new Promise<void>((resolve) => {
    onStopSignal(() => resolve(), edge);
    void options.abandoned?.then(resolve);
  });
  let role: Role;
  try {
    const starting = start();
    const late = stopAsked.then(async () => {
      if (await settlesWithin(starting, options.deadlineMs)) return starting;
      throw new Error(`It was told to stop and did not start within ${options.deadlineMs} ms: it ends now`);
    });
    role = await Promise.race([starting, late]);
  } catch (error) {
    edge.writeLine(operatorSentence(error));
    edge.exit(1);
    return;
  }
  options.onReady?.(role);
  await stopAsked;
  edge.exit(await stopWithin(role, options.deadlineMs, edge));
}
