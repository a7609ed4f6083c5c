/**
 * Children that wait for a job, and the zygote that makes them. A zygote that dies is replaced, ever more slowly while
 * that fails; one that has forked long enough is replaced by a fresh one, and ends once its last child has.
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
import { type Tier, Zygote } from './zygote.ts';

export type PoolOptions = {
  tier: Exclude<Tier, 'none'>;
  python: string;
  /** In which the private directory is made. */
  directory: string;
  /** How many children are kept waiting. */
  idle: number;
  log: Logger;
  /** How many forks a zygote makes before another takes its place. */
  forksPerZygote?: number;
};

/** What a zygote leaks with each fork is little and unknown; a start takes some 100 ms. */
const FORKS_PER_ZYGOTE = 5_000;
/** How long a job may wait for its child, which usually waits for it. */
const TAKE_MS = 10_000;
const NO_CHILD = `no child came up within ${TAKE_MS} ms`;
const STOPPED = 'the sandbox has stopped';
const BACKOFF = { firstMs: 50, longestMs: 5_000 };
const RETRY_MS = 20;
/** Children that end before they are ready: a few may be killed for memory, more are a zygote that makes no good ones. */
const MAX_STILLBORN = 10;

type Taker = { resolve(child: Child): void; reject(error: Error): void; timer: NodeJS.Timeout };

export class Pool {
  readonly #options: PoolOptions;
  #socket!: PrivateSocket;
  #zygote: Zygote | null = null;
  /** Replaced, with children that still work. */
  readonly #retiring = new Set<Zygote>();
  readonly #idle: Child[] = [];
  readonly #takers: Taker[] = [];
  /** Forked with the default limits and not ready yet. */
  #coming = 0;
  #stillborn = 0;
  readonly #backoff = new Backoff(BACKOFF);
  #isReplacing = false;
  #isClosed = false;
  /** Zygotes that died, since the start. */
  deaths = 0;

  private constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** @throws Error with a sentence why this tier cannot be had here */
  static async open(options: PoolOptions): Promise<Pool> {
    const pool = new Pool(options);
    pool.#socket = await listenPrivately(options.directory, (id, socket) => pool.#onChild(id, socket));
    try {
      await pool.#startZygote();
    } catch (error) {
      await pool.close();
      throw error;
    }
    return pool;
  }

  /** Children that wait for a job. */
  get idle(): number {
    return this.#idle.length;
  }

  /**
   * A child that is locked down and has read nothing yet, for one job.
   * @throws Error when none could be made in 10 s, or the pool is closed
   */
  async take(limits: ChildLimits): Promise<Child> {
    if (this.#isClosed) throw new Error(STOPPED);
    const isUsual =
      limits.cpuSeconds === DEFAULT_LIMITS.cpuSeconds && limits.memoryMb === DEFAULT_LIMITS.memoryMb;
    return isUsual ? this.#takeIdle() : this.#forkFor(limits);
  }

  /** Ends all children and zygotes, removes the socket; resolves when they are gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const taker of this.#takers.splice(0)) {
      clearTimeout(taker.timer);
      taker.reject(new Error(STOPPED));
    }
    const zygotes = [...this.#retiring, ...(this.#zygote === null ? [] : [this.#zygote])];
    await Promise.all(zygotes.map((zygote) => zygote.stop()));
    await this.#socket.close();
  }

  #takeIdle(): Promise<Child> {
    for (let child = this.#idle.shift(); child !== undefined; child = this.#idle.shift()) {
      if (!child.isAlive) continue;
      this.#replenish();
      return Promise.resolve(child);
    }
    return new Promise((resolve, reject) => {
      const taker: Taker = {
        resolve,
        reject,
        timer: setTimeout(() => {
          this.#takers.splice(this.#takers.indexOf(taker), 1);
          // One that makes no child for so long is stuck: another will do better.
          this.#zygote?.kill();
          reject(new Error(NO_CHILD));
        }, TAKE_MS),
      };
      this.#takers.push(taker);
      this.#replenish();
    });
  }

  /** Limits cannot be changed once a child is locked down, so unusual ones get a child made for them. */
  async #forkFor(limits: ChildLimits): Promise<Child> {
    const deadline = performance.now() + TAKE_MS;
    for (let leftMs = TAKE_MS; leftMs > 0 && !this.#isClosed; leftMs = deadline - performance.now()) {
      const child = this.#zygote?.fork(limits);
      if (child !== undefined) {
        if (!(await settlesWithin(child.ready, leftMs))) child.condemn();
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
    const wanted = this.#options.idle + this.#takers.length - this.#idle.length - this.#coming;
    for (let count = 0; count < wanted; count += 1) this.#forkUsual(zygote);
    if (zygote.forked >= (this.#options.forksPerZygote ?? FORKS_PER_ZYGOTE)) void this.#replace(zygote);
  }

  #forkUsual(zygote: Zygote): void {
    this.#coming += 1;
    const child = zygote.fork(DEFAULT_LIMITS);
    void child.ready.then((isReady) => {
      this.#coming -= 1;
      if (isReady) {
        this.#stillborn = 0;
        this.#backoff.reset();
        return this.#offer(child, zygote);
      }
      if (zygote !== this.#zygote) return;
      this.#stillborn += 1;
      if (this.#stillborn > MAX_STILLBORN) zygote.kill();
      else setTimeout(() => this.#replenish(), RETRY_MS);
    });
  }

  #offer(child: Child, zygote: Zygote): void {
    const taker = this.#takers.shift();
    if (taker !== undefined) {
      clearTimeout(taker.timer);
      taker.resolve(child);
    } else if (zygote === this.#zygote) {
      this.#idle.push(child);
    } else {
      child.kill();
    }
  }

  async #startZygote(): Promise<void> {
    const { tier, python, log } = this.#options;
    const zygote = new Zygote({ tier, python, log, directory: this.#socket.directory });
    this.#retiring.add(zygote); // to be stopped with the rest if the pool closes meanwhile
    try {
      await zygote.start();
    } finally {
      this.#retiring.delete(zygote);
    }
    if (this.#isClosed) return zygote.stop();
    const old = this.#zygote;
    this.#zygote = zygote;
    this.#stillborn = 0;
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
    while (!this.#isClosed) {
      await sleep(this.#backoff.next());
      try {
        if (!this.#isClosed) await this.#startZygote();
        return;
      } catch (error) {
        this.#options.log.error({ error: describeError(error) }, 'the Python zygote does not start');
      }
    }
  }

  /** Puts another zygote in the place of one that has forked enough. */
  async #replace(old: Zygote): Promise<void> {
    if (this.#isReplacing) return;
    this.#isReplacing = true;
    try {
      await this.#startZygote();
    } catch (error) {
      this.#options.log.warn({ error: describeError(error) }, 'the Python zygote is not replaced');
      old.forked = 0;
    } finally {
      this.#isReplacing = false;
    }
  }
}
