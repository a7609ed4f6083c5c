/**
 * A pool of children that wait for a job, and the zygote that forks them. A zygote that dies is replaced, with growing delays
 * while replacing fails. A zygote that has made enough forks is replaced by a fresh one, and ends after its last child. A pool
 * that was not needed for a while rests, without any process: the next job waits for a new zygote.
 */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import { Backoff } from '#platform/process/backoff.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import type { Child, ChildLimits } from './child.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { listenPrivately, type PrivateSocket } from './socket.ts';
import { type SandboxTier, Zygote } from './zygote.ts';

/** Options of `ChildPool.open`. */
export type ChildPoolOptions = {
  tier: Exclude<SandboxTier, 'none'>;
  python: string;
  /** The directory in which the private directory is made. */
  directory: string;
  /** Number of children that are kept waiting. */
  idle: number;
  log: Logger;
  /** Number of forks after which a zygote is replaced. */
  forksPerZygote?: number;
  /** Time without a job after which the pool rests, in milliseconds. */
  restAfterMs?: number;
};

/** The leak of a zygote with each fork is small and unknown; the start of a new one takes about 100 ms. */
const FORKS_PER_ZYGOTE = 5_000;
/** An idle zygote and its children take some 30 MB. Jobs mostly come in bursts, which are much shorter than this. */
const REST_AFTER_MS = 60_000;
/** Maximum wait of a job for a child; usually a child is waiting already. */
const ACQUIRE_MS = 10_000;
const NO_CHILD = `no child came up within ${ACQUIRE_MS} ms`;
const STOPPED = 'the sandbox has stopped';
const BACKOFF = { firstMs: 50, longestMs: 5_000 };
const RETRY_MS = 20;
/** Children in a row that end before they are ready: a few may be killed for memory, more mean that the zygote is broken. */
const MAX_FAILED_STARTS = 10;

type Waiter = { resolve(child: Child): void; reject(error: Error): void; timer: NodeJS.Timeout };

/** Keeps children waiting for jobs. */
export class ChildPool {
  readonly #options: ChildPoolOptions;
  #socket!: PrivateSocket;
  #zygote: Zygote | null = null;
  /** Replaced zygotes whose children still work. */
  readonly #retiring = new Set<Zygote>();
  readonly #idle: Child[] = [];
  readonly #waiters: Waiter[] = [];
  /** Jobs that wait for a child with limits of their own. */
  #forking = 0;
  /** Children forked with the default limits and not ready yet. */
  #starting = 0;
  #failedStarts = 0;
  readonly #backoff = new Backoff(BACKOFF);
  #isReplacing = false;
  #isResting = false;
  #isClosed = false;
  readonly #restTimer: NodeJS.Timeout;
  /** Number of zygotes that died since the start. */
  deaths = 0;

  private constructor(options: ChildPoolOptions) {
    this.#options = options;
    this.#restTimer = setTimeout(() => this.#rest(), options.restAfterMs ?? REST_AFTER_MS);
  }

  /** Opens the socket and starts a zygote. @throws Error with a sentence that says why this tier cannot run here */
  static async open(options: ChildPoolOptions): Promise<ChildPool> {
    const pool = new ChildPool(options);
    pool.#socket = await listenPrivately(options.directory, (id, socket) => pool.#onChild(id, socket));
    try {
      await pool.#startZygote();
    } catch (error) {
      await pool.close();
      throw error;
    }
    return pool;
  }

  /** Number of children that wait for a job. */
  get idle(): number {
    return this.#idle.length;
  }

  /**
   * Returns a child for one job: locked down, with nothing read yet.
   * @throws Error when no child was ready within 10 s, or the pool is closed
   */
  async acquire(limits: ChildLimits): Promise<Child> {
    if (this.#isClosed) throw new Error(STOPPED);
    this.#restTimer.refresh();
    if (this.#isResting) this.#wake();
    const isDefault =
      limits.cpuSeconds === DEFAULT_LIMITS.cpuSeconds && limits.memoryMb === DEFAULT_LIMITS.memoryMb;
    if (isDefault) return this.#acquireIdle();
    this.#forking += 1;
    return this.#forkFor(limits).finally(() => {
      this.#forking -= 1;
    });
  }

  /** Ends all children and zygotes and removes the socket; resolves when they are gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restTimer);
    for (const waiter of this.#waiters.splice(0)) {
      clearTimeout(waiter.timer);
      waiter.reject(new Error(STOPPED));
    }
    const zygotes = [...this.#retiring, ...(this.#zygote === null ? [] : [this.#zygote])];
    await Promise.all(zygotes.map((zygote) => zygote.stop()));
    await this.#socket.close();
  }

  /** Ends the zygote, after the jobs under way. While one is being started or a job waits for a child, the rest is put off. */
  #rest(): void {
    const zygote = this.#zygote;
    if (zygote === null || this.#isReplacing || this.#waiters.length + this.#forking > 0) {
      this.#restTimer.refresh();
      return;
    }
    this.#zygote = null;
    this.#isResting = true;
    this.#retire(zygote);
  }

  #wake(): void {
    this.#isResting = false;
    void this.#tryStart().then((isStarted) => (isStarted ? undefined : this.#restart()));
  }

  #acquireIdle(): Promise<Child> {
    for (let child = this.#idle.shift(); child !== undefined; child = this.#idle.shift()) {
      if (!child.isAlive) continue;
      this.#replenish();
      return Promise.resolve(child);
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        resolve,
        reject,
        timer: setTimeout(() => {
          this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
          // A zygote that makes no child for so long is stuck: its successor may do better.
          this.#zygote?.kill();
          reject(new Error(NO_CHILD));
        }, ACQUIRE_MS),
      };
      this.#waiters.push(waiter);
      this.#replenish();
    });
  }

  /** Forks a child with its own limits: they cannot be changed once a child is locked down. */
  async #forkFor(limits: ChildLimits): Promise<Child> {
    const deadline = performance.now() + ACQUIRE_MS;
    for (let leftMs = ACQUIRE_MS; leftMs > 0 && !this.#isClosed; leftMs = deadline - performance.now()) {
      const child = this.#zygote?.fork(limits);
      if (child !== undefined) {
        if (!(await settlesWithin(child.ready, leftMs))) child.killZygote();
        else if (await child.ready) return child;
      }
      await sleep(RETRY_MS);
    }
    throw new Error(this.#isClosed ? STOPPED : NO_CHILD);
  }

  #onChild(id: number, socket: Socket): void {
    const zygotes = [this.#zygote, ...this.#retiring];
    const child = zygotes.map((zygote) => zygote?.children.get(id)).find((found) => found !== undefined);
    if (child === undefined) socket.destroy();
    else child.connect(socket);
  }

  #replenish(): void {
    const zygote = this.#zygote;
    if (zygote === null || this.#isClosed) return;
    const wanted = this.#options.idle + this.#waiters.length - this.#idle.length - this.#starting;
    for (let count = 0; count < wanted; count += 1) this.#forkDefault(zygote);
    if (zygote.forked >= (this.#options.forksPerZygote ?? FORKS_PER_ZYGOTE)) void this.#replace(zygote);
  }

  #forkDefault(zygote: Zygote): void {
    this.#starting += 1;
    const child = zygote.fork(DEFAULT_LIMITS);
    void child.ready.then((isReady) => {
      this.#starting -= 1;
      if (isReady) {
        this.#failedStarts = 0;
        this.#backoff.reset();
        return this.#offer(child, zygote);
      }
      if (zygote !== this.#zygote) return;
      this.#failedStarts += 1;
      if (this.#failedStarts > MAX_FAILED_STARTS) zygote.kill();
      else setTimeout(() => this.#replenish(), RETRY_MS);
    });
  }

  #offer(child: Child, zygote: Zygote): void {
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) {
      clearTimeout(waiter.timer);
      waiter.resolve(child);
    } else if (zygote === this.#zygote) {
      this.#idle.push(child);
    } else {
      child.kill();
    }
  }

  async #startZygote(): Promise<void> {
    const { tier, python, log } = this.#options;
    const zygote = new Zygote({ tier, python, log, directory: this.#socket.directory });
    this.#retiring.add(zygote); // so that it is stopped if the pool closes meanwhile
    try {
      await zygote.start();
    } finally {
      this.#retiring.delete(zygote);
    }
    if (this.#isClosed) return zygote.stop();
    const old = this.#zygote;
    this.#zygote = zygote;
    this.#failedStarts = 0;
    void zygote.gone.then((why) => this.#onGone(zygote, why));
    if (old !== null) this.#retire(old);
    this.#replenish();
  }

  #retire(zygote: Zygote): void {
    this.#retiring.add(zygote);
    for (const child of this.#idle.splice(0)) child.kill();
    zygote.retire();
  }

  #onGone(zygote: Zygote, why: string): void {
    this.#retiring.delete(zygote);
    if (zygote !== this.#zygote || this.#isClosed) return;
    this.#zygote = null;
    this.#idle.length = 0;
    this.deaths += 1;
    this.#options.log.warn({ why }, 'the Python zygote died');
    void this.#restart();
  }

  async #restart(): Promise<void> {
    do await sleep(this.#backoff.next());
    while (!this.#isClosed && !(await this.#tryStart()));
  }

  /** Starts a zygote; returns whether it started. */
  async #tryStart(): Promise<boolean> {
    try {
      await this.#startZygote();
      return true;
    } catch (error) {
      this.#options.log.error({ error: describeError(error) }, 'the Python zygote could not be started');
      return false;
    }
  }

  /** Replaces a zygote that has made enough forks. */
  async #replace(old: Zygote): Promise<void> {
    if (this.#isReplacing) return;
    this.#isReplacing = true;
    try {
      await this.#startZygote();
    } catch (error) {
      this.#options.log.warn({ error: describeError(error) }, 'the Python zygote could not be replaced');
      old.forked = 0;
    } finally {
      this.#isReplacing = false;
    }
  }
}
