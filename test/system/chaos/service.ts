/**
 * One process of Assay, kept running as an operator's orchestrator would: started again whenever it ends, whoever ended
 * it. Its log goes into a file.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inheritedEnvironment } from '../../support/assay.ts';
import { tether } from '../../support/tether.ts';
import { highestResidentBytes } from './memory.ts';

export type ServiceRole = 'gateway' | 'api' | 'ingest';

export type ServiceOptions = {
  name: string;
  role: ServiceRole;
  environment: Record<string, string>;
  /** Where it serves; it is up when it says so there. */
  url: string;
  logPath: string;
};

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const LOOK_EVERY_MS = 100;
/** Before it is started again after an end that nobody asked for. */
const BACKOFF_MS = 500;
/** Beyond the deadline that a process sets itself: then it hangs. */
const STOP_WITHIN_MS = 30_000;

export class Service {
  readonly name: string;
  readonly url: string;
  /** Counts the starts. */
  life = 0;
  /** It has answered in this life. */
  isUp = false;
  /** The most memory that it ever held, in bytes. */
  highestBytes = 0;
  /** Ends that nobody asked for, of a process that was up. */
  readonly deaths: string[] = [];
  /** SIGTERMs that did not end with status 0. */
  readonly uncleanStops: string[] = [];
  readonly #options: ServiceOptions;
  readonly #log: number;
  #child: ChildProcess | null = null;
  /** How long it stays down, set by whoever ends it; null: nobody does. */
  #downMs: number | null = null;
  #isStopping = false;
  #running: Promise<void> | null = null;

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.name = options.name;
    this.url = options.url;
    this.#log = openSync(options.logPath, 'a');
  }

  /** Starts it, and keeps it running until `stop`. */
  start(): void {
    this.#running = this.#keepRunning();
  }

  async #keepRunning(): Promise<void> {
    while (!this.#isStopping) {
      const child = this.#spawn();
      const life = new AbortController();
      void this.#look(life.signal);
      const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
      life.abort();
      if (this.#downMs === null && this.isUp) {
        this.deaths.push(`${this.name}, life ${this.life}: ${signal ?? `status ${code}`}`);
      }
      this.isUp = false;
      this.#child = null;
      const downMs = this.#downMs ?? BACKOFF_MS;
      this.#downMs = null;
      if (!this.#isStopping) await sleep(downMs);
    }
  }

  #spawn(): ChildProcess {
    const { role, environment } = this.#options;
    this.life += 1;
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, role], {
      env: { ...inheritedEnvironment(), ...environment },
      stdio: ['ignore', this.#log, this.#log],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    // It may be frozen then, and hear of no other signal.
    tether({ pid: child.pid, ended, signal: 'KILL' });
    this.#child = child;
    return child;
  }

  /** Watches a life: whether it is up, and how much memory it takes. */
  async #look(life: AbortSignal): Promise<void> {
    while (!life.aborted) {
      if (!this.isUp) this.isUp = (await isServing(this.url)) && !life.aborted;
      this.highestBytes = Math.max(this.highestBytes, highestResidentBytes(this.#child?.pid ?? -1));
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** Waits until it is up. False: not in time. */
  async comesUp(withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    while (!this.isUp && performance.now() < deadline) await sleep(LOOK_EVERY_MS);
    return this.isUp;
  }

  /** The last line of its log. */
  lastWords(): string {
    return readFileSync(this.#options.logPath, 'utf8').trimEnd().split('\n').at(-1) ?? '';
  }

  /** SIGKILL; it is started again after `downMs`. False: it was down anyway. */
  kill(downMs: number): boolean {
    if (this.#child === null) return false;
    this.#downMs = downMs;
    return this.#child.kill('SIGKILL');
  }

  /** SIGTERM; it is started again `downMs` after its end. False: it was down anyway. */
  async terminate(downMs: number): Promise<boolean> {
    const child = this.#child;
    if (child === null) return false;
    // One that is still starting has nothing to finish, and no hand for signals yet.
    const wasUp = this.isUp;
    const life = this.life;
    this.#downMs = downMs;
    const ended = once(child, 'exit', { signal: AbortSignal.timeout(STOP_WITHIN_MS) });
    child.kill('SIGTERM');
    try {
      const [code] = await ended;
      if (wasUp && code !== 0) this.uncleanStops.push(`${this.name}, life ${life}: status ${code}`);
    } catch {
      this.uncleanStops.push(`${this.name}, life ${life}: not within ${STOP_WITHIN_MS} ms`);
      child.kill('SIGKILL');
    }
    return true;
  }

  /** SIGSTOP, and SIGCONT after `forMs`. False: it was down. */
  async freeze(forMs: number): Promise<boolean> {
    const child = this.#child;
    if (child === null) return false;
    child.kill('SIGSTOP');
    await sleep(forMs);
    child.kill('SIGCONT');
    return true;
  }

  /** SIGTERM, for good. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.terminate(0);
    await this.#running;
  }

  /** SIGKILL, at once and for good; resolves when it is gone. */
  async abandon(): Promise<void> {
    this.#isStopping = true;
    this.#child?.kill('SIGKILL');
    await this.#running;
  }
}

async function isServing(url: string): Promise<boolean> {
  return await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) }).then(
    (response) => response.ok,
    () => false,
  );
}
