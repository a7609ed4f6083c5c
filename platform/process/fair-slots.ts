/**
 * Bounds what is taken at once, fairly among owners: what becomes free goes to the waiting owner that has the least, and among
 * equals to the one whose turn is longest ago. The jobs of one owner start in order, those of a higher rank first. A job takes one
 * slot, or as many as its size says: bytes of memory, for instance.
 */
export type FairSlotsOptions = {
  /** Slots that are taken at a time. */
  count: number;
  /** Slots beyond `count`, each for a job of an owner that has nothing: an owner that fills all slots delays no other. */
  spare?: number;
  /** Slots of one owner; default: `count`. */
  ofOne?: number;
  /** Waiting jobs; a job beyond them is refused at once. */
  maxWaiting: number;
  /** Waiting jobs of one owner. */
  maxWaitingOfOne: number;
  /** Longest wait of a job, which is refused afterwards; milliseconds. Default: for ever. */
  patienceMs?: number;
};

/** Slots that a job has taken. */
export type Taken = {
  /** Takes so many more at once, before all jobs that wait: this one is under way. Returns false, and takes none, where they are too few. */
  growBy(size: number): boolean;
  /** Gives back all but so many slots. */
  shrinkTo(size: number): void;
  /** Gives back the rest. May be called again. */
  release(): void;
};

type Waiting = { size: number; rank: number; settle(taken: Taken | null): void };

/** The way that a job waits. */
export type Waits = {
  /** Jobs of a higher rank come before others of the same owner. Default: 0. */
  rank?: number;
  /** Is never refused, and waits for as long as it takes: it goes on with what was begun. */
  isBegun?: boolean;
  /** Ends the wait when it aborts: nobody needs the job any more. */
  signal?: AbortSignal;
};

export class FairSlots {
  readonly #options: FairSlotsOptions;
  readonly #takenBy = new Map<string, number>();
  /** Waiting jobs by owner; the owner whose turn is longest ago comes first. */
  readonly #waitingOf = new Map<string, Waiting[]>();
  #taken = 0;
  #waiting = 0;

  constructor(options: FairSlotsOptions) {
    this.#options = options;
  }

  /** Slots that are taken. */
  get running(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** The most slots that one owner may have. */
  get mostOfOne(): number {
    return this.#options.ofOne ?? this.#options.count;
  }

  /** Runs `work` as soon as its owner gets a slot. Resolves with null when the queue is full, or the wait ended before. */
  async run<Result>(owner: string, work: () => Promise<Result>, waits: Waits = {}): Promise<Result | null> {
    const taking = this.take(owner, 1, waits);
    const taken = taking instanceof Promise ? await taking : taking;
    if (taken === null) return null;
    try {
      return await work();
    } finally {
      taken.release();
    }
  }

  /**
   * Takes slots, at once where that is fair. Null: the queue is full, or the wait took too long or was ended.
   * @param size slots, at most `count` and `ofOne` of them; of owners that use ranks 1
   */
  take(
    owner: string,
    size = 1,
    { rank = 0, isBegun = false, signal }: Waits = {},
  ): Taken | null | Promise<Taken | null> {
    if (this.#fits(owner, size) && !this.#isBehind(owner, rank)) return this.#give(owner, size);
    if (!isBegun && this.#isFull(owner, rank)) return null;
    return this.#wait(owner, { size, rank, isBegun, signal });
  }

  /** Begins a job that has no slots yet, and may grow. */
  open(owner: string): Taken {
    return this.#give(owner, 0);
  }

  /** @param held slots that the job has already */
  #fits(owner: string, size: number, held = 0): boolean {
    const { count, spare = 0 } = this.#options;
    const own = this.#takenBy.get(owner) ?? 0;
    const all = this.#taken + size;
    return this.#isAllowed(owner, size) && (all <= count || (own === held && all <= count + spare));
  }

  /** Returns whether only others keep an owner from so many slots. */
  #isAllowed(owner: string, size: number): boolean {
    const { count, ofOne = count } = this.#options;
    return (this.#takenBy.get(owner) ?? 0) + size <= ofOne;
  }

  /** Jobs of one rank are not refused for those of another. */
  #isFull(owner: string, rank: number): boolean {
    const { maxWaiting, maxWaitingOfOne } = this.#options;
    const own = this.#waitingOf.get(owner)?.filter((one) => one.rank === rank).length ?? 0;
    return this.#waiting >= maxWaiting || own >= maxWaitingOfOne;
  }

  /** Returns whether a waiting job comes first: of the same owner, or of one that has no more. */
  #isBehind(owner: string, rank: number): boolean {
    const [first] = this.#waitingOf.get(owner) ?? [];
    if (first !== undefined && first.rank >= rank) return true;
    const next = this.#next();
    return next !== null && (this.#takenBy.get(next) ?? 0) <= (this.#takenBy.get(owner) ?? 0);
  }

  /** Returns the owner whose first waiting job comes next, when there is room for it; null: all wait for their own jobs. */
  #next(): string | null {
    let chosen: string | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const [owner, [first]] of this.#waitingOf) {
      const own = this.#takenBy.get(owner) ?? 0;
      if (own < least && this.#isAllowed(owner, first!.size)) [chosen, least] = [owner, own];
    }
    return chosen;
  }

  /** Counts before the job's own code runs, so that no other job takes the slots. */
  #give(owner: string, size: number): Taken {
    this.#add(owner, size);
    let held = size;
    const shrinkTo = (to: number): void => {
      if (to >= held) return;
      this.#add(owner, to - held);
      held = to;
      this.#startWaiting();
    };
    const growBy = (by: number): boolean => {
      if (!this.#fits(owner, by, held)) return false;
      this.#add(owner, by);
      held += by;
      return true;
    };
    return { growBy, shrinkTo, release: () => shrinkTo(0) };
  }

  #add(owner: string, slots: number): void {
    this.#taken += slots;
    const own = (this.#takenBy.get(owner) ?? 0) + slots;
    if (own === 0) this.#takenBy.delete(owner);
    else this.#takenBy.set(owner, own);
  }

  /** Starts the waiting jobs that there is room for. A large one is not passed by smaller ones, or it might wait for ever. */
  #startWaiting(): void {
    for (;;) {
      const owner = this.#next();
      if (owner === null) return;
      const first = this.#waitingOf.get(owner)![0]!;
      if (!this.#fits(owner, first.size)) return;
      this.#remove(owner, first);
      const others = this.#waitingOf.get(owner);
      if (others !== undefined) {
        this.#waitingOf.delete(owner);
        this.#waitingOf.set(owner, others);
      }
      first.settle(this.#give(owner, first.size));
    }
  }

  async #wait(
    owner: string,
    {
      size,
      rank,
      isBegun,
      signal,
    }: { size: number; rank: number; isBegun: boolean; signal: AbortSignal | undefined },
  ): Promise<Taken | null> {
    const { patienceMs } = this.#options;
    const { promise, resolve } = Promise.withResolvers<Taken | null>();
    const one: Waiting = { size, rank, settle: resolve };
    this.#queue(owner, one);
    const giveUp = () => {
      this.#remove(owner, one);
      resolve(null);
      // Jobs that waited behind it may fit.
      this.#startWaiting();
    };
    const timer = isBegun || patienceMs === undefined ? undefined : setTimeout(giveUp, patienceMs);
    signal?.addEventListener('abort', giveUp);
    if (signal?.aborted === true) giveUp();
    const taken = await promise;
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
    return taken;
  }

  #queue(owner: string, one: Waiting): void {
    const own = this.#waitingOf.get(owner) ?? [];
    this.#waitingOf.set(owner, own);
    const behind = own.findIndex(({ rank }) => rank < one.rank);
    own.splice(behind === -1 ? own.length : behind, 0, one);
    this.#waiting += 1;
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
