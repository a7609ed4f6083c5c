/** One role in a process of its own: started, watched, started again when it dies, replaced, stopped. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, textOrNull } from '#core/json/mod.ts';
import type { Environment } from '#platform/config/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { settlesWithin } from '#platform/process/lifecycle.ts';
import { createBackoff } from './backoff.ts';
import { portOf } from './port-of.ts';

export type RoleProcessOptions = {
  role: string;
  /** The runtime, and its parameters up to and with the role's. */
  command: string;
  parameters: string[];
  environment: Environment;
  /** The variable that sets the role's port: a role that took a free one gets it again. */
  portVariable: string | null;
  /** A socket of this process that the role listens on, as its file descriptor GIVEN_SOCKET_FD. */
  socketFd?: number | null;
  log: Logger;
};

/** A role that is kept running, in one process or in several that do the same. */
export type RoleProcess = {
  /** Where it serves, as of its first start. */
  address: string | null;
  /**
   * Starts it anew beside what runs and, when that serves, asks the former to stop and kills it after `deadlineMs`;
   * process by process. Resolves when the former is gone.
   * @throws RoleDidNotStartError when a new one does not come to serve: its former runs on
   */
  replace(deadlineMs: number): Promise<void>;
  /** Asks it to stop, and kills it after `deadlineMs`. */
  stop(deadlineMs: number): Promise<void>;
  /** Ends it at once, without waiting. */
  kill(): void;
};

/** A role that ended before it served. It has told the reason on stderr itself. */
export class RoleDidNotStartError extends Error {
  override readonly name = 'RoleDidNotStartError';
}

/** The first after stdin, stdout and stderr. */
export const GIVEN_SOCKET_FD = 3;

const START_TIMEOUT_MS = 60_000;

type Life = {
  child: ChildProcess;
  bornAt: number;
  /** Where it serves, once it does; never settles when it dies before. */
  ready: Promise<string | null>;
  exited: Promise<string>;
};

/**
 * The child says on stdout that it is ready, in one line of JSON; its log goes to stderr, and so does whatever else
 * prints there: operators have tracers loaded into every process.
 */
function readAddress(child: ChildProcess): Promise<string | null> {
  return new Promise((resolve) => {
    // One that could not be started for want of file descriptors has no stdout: its 'error' says so.
    if (!child.stdout) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = readySaid(line);
      if (said === null) process.stderr.write(`${line}\n`);
      else resolve(said.address);
    });
  });
}

function readySaid(line: string): { address: string | null } | null {
  try {
    const said: unknown = JSON.parse(line);
    return isObject(said) && 'address' in said ? { address: textOrNull(said.address) } : null;
  } catch {
    return null;
  }
}

function begin(options: RoleProcessOptions, environment: Environment): Life {
  const { socketFd = null } = options;
  const child = spawn(options.command, options.parameters, {
    env: environment,
    // stdin carries nothing: it closes when this process is gone, however it went, and the role ends itself.
    stdio: ['pipe', 'pipe', 'inherit', ...(socketFd === null ? [] : [socketFd])],
    // A Ctrl-C in the terminal goes to the whole group; roles are stopped in order instead.
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

/** The address of a role that has begun; one that does not come to serve is killed. */
async function serving(role: string, life: Life): Promise<string | null> {
  const fate = life.exited.then((how) => {
    throw new RoleDidNotStartError(`The ${role} did not start (${how}): its reason is above`);
  });
  const late = sleep(START_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new RoleDidNotStartError(`The ${role} did not start within ${START_TIMEOUT_MS} ms`);
  });
  for (const unheard of [fate, late]) unheard.catch(() => {});
  try {
    return await Promise.race([life.ready, fate, late]);
  } catch (error) {
    life.child.kill('SIGKILL');
    throw error;
  }
}

class KeptRole implements RoleProcess {
  address: string | null = null;
  readonly #options: RoleProcessOptions;
  readonly #backoff = createBackoff();
  readonly #stopping = new AbortController();
  /** All that run: the one in office, one that is to follow it, one that finishes its calls. */
  readonly #lives = new Set<Life>();
  #environment: Environment;
  #inOffice: Life | null = null;

  constructor(options: RoleProcessOptions) {
    this.#options = options;
    this.#environment = options.environment;
  }

  async start(): Promise<void> {
    const { role, portVariable } = this.#options;
    const life = this.#begin();
    this.address = await serving(role, life);
    if (this.address !== null && portVariable !== null) {
      this.#environment = { ...this.#environment, [portVariable]: portOf(this.address) };
    }
    this.#takeOffice(life);
  }

  async replace(deadlineMs: number): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    const life = this.#begin();
    await serving(this.#options.role, life);
    // A stop that came meanwhile stops this one too.
    if (this.#stopping.signal.aborted) return;
    const former = this.#inOffice!;
    this.#takeOffice(life);
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

  #takeOffice(life: Life): void {
    this.#inOffice = life;
    void life.exited.then((how) => this.#startAgain(life, how));
  }

  async #startAgain(life: Life, how: string): Promise<void> {
    const isOver = () => this.#inOffice !== life || this.#stopping.signal.aborted;
    if (isOver()) return;
    const { role, log } = this.#options;
    const waitMs = this.#backoff.next(performance.now() - life.bornAt);
    log.error({ died: role, how, waitMs }, `The ${role} died; it is started again`);
    await sleep(waitMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
    if (isOver()) return;
    const next = this.#begin();
    this.#takeOffice(next);
    await next.ready;
    log.info({ role, startMs: performance.now() - next.bornAt }, `The ${role} is back`);
  }

  async #end(lives: readonly Life[], deadlineMs: number): Promise<void> {
    const { role, log } = this.#options;
    for (const { child } of lives) child.kill('SIGTERM');
    const ended = Promise.all(lives.map((life) => life.exited));
    if (await settlesWithin(ended, deadlineMs)) return;
    log.error({ role, deadlineMs }, `The ${role} does not stop; it is killed`);
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
