/**
 * Bounds the number of jobs that run at once, fairly among owners: a free slot goes to the waiting owner with the fewest
 * running jobs, and among equals to the one whose turn is longest ago. The jobs of one owner start in order.
 */
export type FairSlotsOptions = {
  /** Jobs that run at a time. */
  count: number;
  /** Jobs beyond `count`, each of an owner that has none running: an owner that fills all slots delays no other. */
  spare?: number;
  /** Running jobs of one owner; default: `count`. */
  ofOne?: number;
  /** Waiting jobs; a job beyond them is refused at once. */
  maxWaiting: number;
  /** Waiting jobs of one owner. */
  maxWaitingOfOne: number;
  /** Longest wait of a job, which is refused afterwards; milliseconds. Default: for ever. */
  patienceMs?: number;
};

type Waiting = { settle(hasSlot: boolean): void };

export class FairSlots {
  readonly #options: FairSlotsOptions;
  readonly #runningOf = new Map<string, number>();
  /** Waiting jobs by owner; the owner whose turn is longest ago comes first. */
  readonly #waitingOf = new Map<string, Waiting[]>();
  #running = 0;
  #waiting = 0;

  constructor(options: FairSlotsOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Runs `work` as soon as its owner gets a slot. Resolves with null when the queue is full, or the wait took too long. */
  async run<Result>(owner: string, work: () => Promise<Result>): Promise<Result | null> {
    if (this.#hasRoom(owner)) this.#take(owner);
    else if (!(await this.#wait(owner))) return null;
    try {
      return await work();
    } finally {
      this.#release(owner);
    }
  }

  #hasRoom(owner: string): boolean {
    const { count, spare = 0, ofOne = count } = this.#options;
    const own = this.#runningOf.get(owner) ?? 0;
    return own < ofOne && (this.#running < count || (own === 0 && this.#running < count + spare));
  }

  #take(owner: string): void {
    this.#running += 1;
    this.#runningOf.set(owner, (this.#runningOf.get(owner) ?? 0) + 1);
  }

  #release(owner: string): void {
    this.#running -= 1;
    const left = this.#runningOf.get(owner)! - 1;
    if (left === 0) this.#runningOf.delete(owner);
    else this.#runningOf.set(owner, left);
    for (let next = this.#next(); next !== null; next = this.#next()) this.#start(next);
  }

  /** Returns the owner whose first waiting job starts next; null: none may start. */
  #next(): string | null {
    let chosen: string | null = null;
    let fewest = Number.POSITIVE_INFINITY;
    for (const owner of this.#waitingOf.keys()) {
      const own = this.#runningOf.get(owner) ?? 0;
      if (own < fewest && this.#hasRoom(owner)) [chosen, fewest] = [owner, own];
    }
    return chosen;
  }

  /** Starts an owner's first waiting job. Counts it before its own code runs, so that no other job takes the slot. */
  #start(owner: string): void {
    const first = this.#waitingOf.get(owner)![0]!;
    this.#remove(owner, first);
    const others = this.#waitingOf.get(owner);
    if (others !== undefined) {
      this.#waitingOf.delete(owner);
      this.#waitingOf.set(owner, others);
    }
    this.#take(owner);
    first.settle(true);
  }

  async #wait(owner: string): Promise<boolean> {
    const { maxWaiting, maxWaitingOfOne, patienceMs } = this.#options;
    const own = this.#waitingOf.get(owner) ?? [];
    if (this.#waiting >= maxWaiting || own.length >= maxWaitingOfOne) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const one: Waiting = { settle: resolve };
    own.push(one);
    this.#waitingOf.set(owner, own);
    this.#waiting += 1;
    if (patienceMs === undefined) return await promise;
    const timer = setTimeout(() => {
      this.#remove(owner, one);
      resolve(false);
    }, patienceMs);
    const hasSlot = await promise;
    clearTimeout(timer);
    return hasSlot;
  }

  #remove(owner: string, one: Waiting): void {
    const own = this.#waitingOf.get(owner);
    const index = own?.indexOf(one) ?? -1;
    if (index === -1) return;
    own!.splice(index, 1);
    this.#waiting -= 1;
    if (own!.length === 0) this.#waitingOf.delete(owner);
  }
}
