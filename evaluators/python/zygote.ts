/** The zygote's process: starts it, sends it commands, and reads its messages. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Logger } from '#platform/observability/log.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import { Child, type ChildExit, type ChildLimits } from './child.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { IMPORTABLE_MODULES } from './modules.ts';

/** Tiers of isolation, the strongest first. */
export const SANDBOX_TIERS = ['chroot', 'namespaces', 'process', 'none'] as const;
export type SandboxTier = (typeof SANDBOX_TIERS)[number];

/** Options of a zygote. */
export type ZygoteOptions = {
  tier: Exclude<SandboxTier, 'none'>;
  /** Path of the Python to run. */
  python: string;
  /** The private directory, with the socket in it. */
  directory: string;
  log: Logger;
};

const sourceOf = (module: string) => readFileSync(new URL(`./${module}.py`, import.meta.url), 'utf8');
const PROGRAM = sourceOf('zygote');
/** Modules are sent to the zygote, not loaded by it: evaluators could read the path of a loaded file. */
const SOURCES = Object.fromEntries(
  ['lockdown', 'enclosure', 'evaluation', 'seccomp'].map((module) => [module, sourceOf(module)]),
);
/** The constant is repeated in zygote.py. */
const LENGTH_DIGITS = 10;
/** Python runs isolated from the environment and the user's files, without site-packages, and writes no bytecode. */
const PYTHON_OPTIONS = ['-I', '-S', '-B', '-X', 'utf8'];
/** The zygote inherits nothing of the service's environment, and clears even these variables. */
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC0' };
/** The first of the user ids that root gives to children, one for each slot. Debian allots no ids from here on. */
const FIRST_UID = 64_200;
const START_MS = 20_000;
const STOP_MS = 2_000;
const MAX_STDERR_CHARACTERS = 2_000;

/** Frames the settings: their length in bytes, then their text. */
const frame = (settings: string) =>
  String(Buffer.byteLength(settings)).padStart(LENGTH_DIGITS, '0') + settings;

type ZygoteMessage =
  | { ready: true; missing: string[]; landlock: number; python: string }
  | ({ exit: number } & ChildExit);

/** The last child's id. Ids are unique in the process, so that no connection is taken for another zygote's child. */
let lastId = 0;

/** One zygote process and its children. */
export class Zygote {
  /** Children that have not ended, by id. */
  readonly children = new Map<number, Child>();
  /** Number of forks so far. */
  forked = 0;
  /** Resolves when the process is gone, to its last line on stderr, or else to how it ended. */
  readonly gone: Promise<string>;
  readonly ready: Promise<void>;
  readonly #process: ChildProcess;
  #stderrTail = '';
  #isRetiring = false;
  #isStopping = false;
  #becomeReady!: () => void;
  #isGone = false;

  constructor(options: ZygoteOptions) {
    const { tier, directory, log } = options;
    this.#process = spawn(options.python, [...PYTHON_OPTIONS, '-c', PROGRAM], {
      cwd: '/',
      env: ENVIRONMENT,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.ready = new Promise((resolve) => {
      this.#becomeReady = resolve;
    });
    this.gone = new Promise((resolve) => {
      this.#process.once('error', (error) => resolve(this.#onGone(error.message)));
      // `close` comes after the last bytes of stderr.
      this.#process.once('close', (status, signal) =>
        resolve(this.#onGone(`it ended with ${signal ?? status}`)),
      );
    });
    // The process may die while it is written to or killed; `gone` reports it.
    this.#process.on('error', () => {});
    this.#process.stdin?.on('error', () => {});
    this.#listen(log);
    const modules = IMPORTABLE_MODULES;
    this.#write(frame(JSON.stringify({ tier, directory, firstUid: FIRST_UID, modules, sources: SOURCES })));
  }

  /** Resolves when the zygote can fork and a first child has locked itself down; rejects with the reason why not. */
  async start(): Promise<void> {
    const failed = this.gone.then((why) => {
      throw new Error(why);
    });
    const first = this.ready.then(() => this.#tryChild());
    if (await settlesWithin(Promise.race([first, failed]), START_MS)) return;
    this.kill();
    throw new Error(`it was not ready within ${START_MS} ms`);
  }

  async #tryChild(): Promise<void> {
    const child = this.fork(DEFAULT_LIMITS);
    const isReady = await child.ready;
    child.kill();
    if (isReady) return;
    this.kill();
    throw new Error(await this.gone);
  }

  /** Forks a child, which connects to the socket when it is ready. */
  fork(limits: ChildLimits): Child {
    lastId = (lastId % 0xffff_ffff) + 1;
    const child = new Child(lastId, limits, this);
    this.children.set(child.id, child);
    this.forked += 1;
    this.#write(`fork ${child.id} ${limits.cpuSeconds} ${limits.memoryMb}\n`);
    if (this.#isGone) this.#forget(child.id, null);
    return child;
  }

  /** Kills the child with this id. The zygote sends the signal, since it cannot mistake another process for the child. */
  killChild(id: number): void {
    this.#write(`kill ${id}\n`);
  }

  /** Kills the zygote, and with it all its children. */
  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** Ends the zygote after its last child. */
  retire(): void {
    this.#isRetiring = true;
    if (this.children.size === 0) this.#process.stdin?.end();
  }

  /** Ends the zygote and its children; resolves when they are gone. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#process.stdin?.end();
    if (await settlesWithin(this.gone, STOP_MS)) return;
    this.kill();
    await this.gone;
  }

  #write(line: string): void {
    if (this.#process.stdin?.writable) this.#process.stdin.write(line);
  }

  #listen(log: Logger): void {
    let pending = '';
    this.#process.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (pending + chunk).split('\n');
      pending = lines.pop() ?? '';
      for (const line of lines) this.#onMessage(JSON.parse(line) as ZygoteMessage, log);
    });
    this.#process.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#stderrTail = (this.#stderrTail + chunk).slice(-MAX_STDERR_CHARACTERS);
      log.debug({ said: chunk.slice(0, MAX_STDERR_CHARACTERS) }, 'the Python zygote said');
    });
  }

  #onMessage(message: ZygoteMessage, log: Logger): void {
    if ('exit' in message) {
      // During a stop the zygote kills its children: their ends say nothing about the code.
      this.#forget(message.exit, this.#isStopping ? null : message);
      return;
    }
    const { missing, landlock, python } = message;
    if (missing.length > 0) log.warn({ missing }, 'this Python lacks modules that evaluators may import');
    log.debug({ landlock, python }, 'the Python zygote is ready');
    this.#becomeReady();
  }

  #forget(id: number, exit: ChildExit | null): void {
    const child = this.children.get(id);
    this.children.delete(id);
    child?.onExit(exit);
    if (this.#isRetiring && this.children.size === 0) this.#process.stdin?.end();
  }

  #onGone(how: string): string {
    this.#isGone = true;
    for (const id of [...this.children.keys()]) this.#forget(id, null);
    const said = this.#stderrTail.trim().split('\n').at(-1) ?? '';
    return said === '' ? how : said;
  }
}
