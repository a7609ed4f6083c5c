/** The zygote's process: started, told to fork and to kill, listened to. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Logger } from '#platform/observability/log.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import { Child, type ChildLimits, type Exit } from './child.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { IMPORTABLE_MODULES } from './modules.ts';

/** How strongly evaluations are walled in, the strongest first. */
export const TIERS = ['chroot', 'namespaces', 'process', 'none'] as const;
export type Tier = (typeof TIERS)[number];

export type ZygoteOptions = {
  tier: Exclude<Tier, 'none'>;
  /** The Python to run. */
  python: string;
  /** The private directory, with the socket in it. */
  directory: string;
  log: Logger;
};

const sourceOf = (module: string) => readFileSync(new URL(`./${module}.py`, import.meta.url), 'utf8');
const PROGRAM = sourceOf('zygote');
/** Sent, not found by the zygote: a path in it could be read by evaluators. */
const SOURCES = Object.fromEntries(
  ['lockdown', 'enclosure', 'evaluation', 'seccomp'].map((module) => [module, sourceOf(module)]),
);
/** As zygote.py has it. */
const LENGTH_DIGITS = 10;
/** Isolated from the environment and the user's files, without site-packages, writing no bytecode. */
const PYTHON_OPTIONS = ['-I', '-S', '-B', '-X', 'utf8'];
/** Nothing of the service's own environment; the zygote clears even this. */
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC0' };
/** Each slot's children have a user of their own, where there is root to give it. Debian allots none from here on. */
const FIRST_UID = 64_200;
const START_MS = 20_000;
const STOP_MS = 2_000;
const MAX_COMPLAINT_LENGTH = 2_000;

/** The settings, with their length in bytes before them. */
const frame = (settings: string) =>
  String(Buffer.byteLength(settings)).padStart(LENGTH_DIGITS, '0') + settings;

type Told = { ready: true; missing: string[]; landlock: number; python: string } | ({ exit: number } & Exit);

/** Distinct in the whole process, so that no connection can be taken for another zygote's child. */
let lastId = 0;

export class Zygote {
  /** Those that have not ended, by id. */
  readonly children = new Map<number, Child>();
  /** How many it has made. */
  forked = 0;
  /** When it is gone, with what it said. */
  readonly gone: Promise<string>;
  readonly ready: Promise<void>;
  readonly #process: ChildProcess;
  #complaint = '';
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
      // After its last words.
      this.#process.once('close', (status, signal) =>
        resolve(this.#onGone(`it ended with ${signal ?? status}`)),
      );
    });
    // It may die while it is written to or killed: its end is what tells.
    this.#process.on('error', () => {});
    this.#process.stdin?.on('error', () => {});
    this.#listen(log);
    const modules = IMPORTABLE_MODULES;
    this.#tell(frame(JSON.stringify({ tier, directory, firstUid: FIRST_UID, modules, sources: SOURCES })));
  }

  /** Resolves when it can fork, and a first child has locked itself in; rejects with why it cannot. */
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

  /** A new child: it connects to the socket when it is ready. */
  fork(limits: ChildLimits): Child {
    lastId = (lastId % 0xffff_ffff) + 1;
    const child = new Child(lastId, limits, this);
    this.children.set(child.id, child);
    this.forked += 1;
    this.#tell(`fork ${child.id} ${limits.cpuSeconds} ${limits.memoryMb}\n`);
    if (this.#isGone) this.#forget(child.id, null);
    return child;
  }

  /** Ends the child with this id. The zygote does it, who cannot mistake another process for it. */
  killChild(id: number): void {
    this.#tell(`kill ${id}\n`);
  }

  /** Ends it at once, and all of its children with it. */
  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** Ends it once its children have ended. */
  retire(): void {
    this.#isRetiring = true;
    if (this.children.size === 0) this.#process.stdin?.end();
  }

  /** Ends it and its children, and resolves when they are gone. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#process.stdin?.end();
    if (await settlesWithin(this.gone, STOP_MS)) return;
    this.kill();
    await this.gone;
  }

  #tell(line: string): void {
    if (this.#process.stdin?.writable) this.#process.stdin.write(line);
  }

  #listen(log: Logger): void {
    let pending = '';
    this.#process.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (pending + chunk).split('\n');
      pending = lines.pop() ?? '';
      for (const line of lines) this.#onTold(JSON.parse(line) as Told, log);
    });
    this.#process.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#complaint = (this.#complaint + chunk).slice(-MAX_COMPLAINT_LENGTH);
      log.debug({ said: chunk.slice(0, MAX_COMPLAINT_LENGTH) }, 'the Python zygote said');
    });
  }

  #onTold(told: Told, log: Logger): void {
    if ('exit' in told) {
      // What is ended by a stop has not ended by its own doing.
      this.#forget(told.exit, this.#isStopping ? null : told);
      return;
    }
    const { missing, landlock, python } = told;
    if (missing.length > 0) log.warn({ missing }, 'this Python lacks modules that evaluators may import');
    log.debug({ landlock, python }, 'the Python zygote is ready');
    this.#becomeReady();
  }

  #forget(id: number, exit: Exit | null): void {
    const child = this.children.get(id);
    this.children.delete(id);
    child?.onExit(exit);
    if (this.#isRetiring && this.children.size === 0) this.#process.stdin?.end();
  }

  #onGone(how: string): string {
    this.#isGone = true;
    for (const id of [...this.children.keys()]) this.#forget(id, null);
    const said = this.#complaint.trim().split('\n').at(-1) ?? '';
    return said === '' ? how : said;
  }
}
