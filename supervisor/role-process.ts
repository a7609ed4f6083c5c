/** One role in a process of its own: starts it, restarts it when it dies, replaces and stops it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, textOrNull } from '#core/json/mod.ts';
import type { Environment } from '#platform/config/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { settlesWithin, withDeadline } from '#platform/process/deadline.ts';
import { createRestartBackoff } from './backoff.ts';
import { portOf } from './port-of.ts';

export type RoleProcessOptions = {
  role: string;
  /** The runtime's path; `parameters` ends with those of the role. */
  command: string;
  parameters: string[];
  environment: Environment;
  /** The variable that sets the role's port, so that a restarted role gets the port it had chosen before. */
  portVariable: string | null;
  /** Descriptors of this process for the role, which sees them as those from FIRST_GIVEN_FD on. */
  givenFds?: readonly number[];
  log: Logger;
};

/** A role that is kept running, in one process or in several identical ones. */
export type RoleProcess = {
  /** The address it serves at, as of its first start. */
  address: string | null;
  /**
   * Replaces its processes one by one: starts a successor and, once that serves, asks the old process to stop and kills
   * it after `deadlineMs`. Resolves when the old processes are gone.
   * @throws RoleDidNotStartError when a successor does not come to serve; the old process keeps running
   */
  replace(deadlineMs: number): Promise<void>;
  /** Asks it to stop, and kills it after `deadlineMs`. */
  stop(deadlineMs: number): Promise<void>;
  /** Kills it at once, without waiting. */
  kill(): void;
};

/** A role ended before it served. Its own log on stderr has the reason. */
class RoleDidNotStartError extends Error {
  override readonly name = 'RoleDidNotStartError';
}

/** The first file descriptor after stdin, stdout and stderr. */
export const FIRST_GIVEN_FD = 3;

const START_TIMEOUT_MS = 60_000;

/** One process of the role. */
type Life = {
  child: ChildProcess;
  bornAt: number;
  /** The address it serves at; never settles when the process dies before it serves. */
  ready: Promise<string | null>;
  exited: Promise<string>;
};

/**
 * Reads the address from the one line of JSON that the child prints on stdout when it is ready. Other lines are forwarded
 * to stderr, where logs go: some operators load tracers into every process, and those print.
 */
function readAddress(child: ChildProcess): Promise<string | null> {
  return new Promise((resolve) => {
    // A child that could not be spawned, because file descriptors ran out, has no stdout; it emits 'error'.
    if (!child.stdout) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const ready = parseReadyLine(line);
      if (ready === null) process.stderr.write(`${line}\n`);
      else resolve(ready.address);
    });
  });
}

function parseReadyLine(line: string): { address: string | null } | null {
  try {
    const message: unknown = JSON.parse(line);
    return isObject(message) && 'address' in message ? { address: textOrNull(message.address) } : null;
  } catch {
    return null;
  }
}

function begin(options: RoleProcessOptions, environment: Environment): Life {
  const { givenFds = [] } = options;
  const child = spawn(options.command, options.parameters, {
    env: environment,
    // stdin carries no data. It closes when this process ends, even when it is killed, and the role then stops itself.
    stdio: ['pipe', 'pipe', 'inherit', ...givenFds],
    // Ctrl-C in a terminal signals the whole process group; roles must be stopped in order instead.
    detached: true,
  });
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `status ${code}`));
    child.once('error', (error) => resolve(error.message));
  });
  child.stdin?.on('error', () => {});
  options.log.info({ started: options.role, process: child.pid }, `Started the ${options.role}`);
  return { child, bornAt: performance.now(), ready: readAddress(child), exited };
}

/** Waits for a spawned role to serve and returns its address; kills it when it does not. */
async function waitUntilServing(role: string, life: Life): Promise<string | null> {
  const died = life.exited.then((how) => {
    throw new RoleDidNotStartError(`The ${role} did not start (${how}): its log above has the reason`);
  });
  try {
    return await withDeadline(Promise.race([life.ready, died]), START_TIMEOUT_MS, () => {
      throw new RoleDidNotStartError(`The ${role} did not start within ${START_TIMEOUT_MS} ms`);
    });
  } catch (error) {
    life.child.kill('SIGKILL');
    throw error;
  }
}

class KeptRole implements RoleProcess {
  address: string | null = null;
  readonly #options: RoleProcessOptions;
  readonly #backoff = createRestartBackoff();
  readonly #stopping = new AbortController();
  /** All running processes: the current one, a successor that starts, predecessors that finish their calls. */
  readonly #lives = new Set<Life>();
  #environment: Environment;
  #current: Life | null = null;

  constructor(options: RoleProcessOptions) {
    this.#options = options;
    this.#environment = options.environment;
  }

  async start(): Promise<void> {
    const { role, portVariable } = this.#options;
    const life = this.#begin();
    this.address = await waitUntilServing(role, life);
    if (this.address !== null && portVariable !== null) {
      this.#environment = { ...this.#environment, [portVariable]: portOf(this.address) };
    }
    this.#makeCurrent(life);
  }

  async replace(deadlineMs: number): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    const life = this.#begin();
    await waitUntilServing(this.#options.role, life);
    // A stop during the start has stopped this process too.
    if (this.#stopping.signal.aborted) return;
    const former = this.#current!;
    this.#makeCurrent(life);
    await this.#end([former], deadlineMs);
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#stopping.abort();
    await this.#end([...this.#lives], deadlineMs);
  }

  kill(): void {
    this.#stopping.abort();
    for (const { child } of this.#lives) child.kill('SIGKILL');
  }

  #begin(): Life {
    const life = begin(this.#options, this.#environment);
    this.#lives.add(life);
    void life.exited.then(() => this.#lives.delete(life));
    return life;
  }

  #makeCurrent(life: Life): void {
    this.#current = life;
    void life.exited.then((how) => this.#restart(life, how));
  }

  async #restart(life: Life, how: string): Promise<void> {
    const isOver = () => this.#current !== life || this.#stopping.signal.aborted;
    if (isOver()) return;
    const { role, log } = this.#options;
    const waitMs = this.#backoff.next(performance.now() - life.bornAt);
    log.error({ died: role, how, waitMs }, `The ${role} died; restarting it`);
    await sleep(waitMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
    if (isOver()) return;
    const next = this.#begin();
    this.#makeCurrent(next);
    await next.ready;
    log.info({ role, startMs: performance.now() - next.bornAt }, `The ${role} is back`);
  }

  async #end(lives: readonly Life[], deadlineMs: number): Promise<void> {
    const { role, log } = this.#options;
    for (const { child } of lives) child.kill('SIGTERM');
    const ended = Promise.all(lives.map((life) => life.exited));
    if (await settlesWithin(ended, deadlineMs)) return;
    log.error({ role, deadlineMs }, `The ${role} did not stop in time; killing it`);
    for (const { child } of lives) child.kill('SIGKILL');
    await ended;
  }
}

/**
 * Starts a role and keeps it running.
 * @throws RoleDidNotStartError when it ends before it serves
 */
export async function startRoleProcess(options: RoleProcessOptions): Promise<RoleProcess> {
  const role = new KeptRole(options);
  await role.start();
  return role;
}
