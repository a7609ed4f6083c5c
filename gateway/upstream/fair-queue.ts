/**
 * Who may use the connections to one address, organization by organization: each holds a bounded number of them, and
 * where calls have to wait, organizations are served in turn, the calls of one in the order they came.
 */

/** What one organization holds of a pool, and what it waits for. */
export type Share<Item> = {
  /** Connections that its calls hold. */
  held: number;
  /** Its waiting calls in the order they came, each with the moment at which it is given up. */
  readonly waiting: Map<Item, number>;
};

/** A call in line, and whose it is. */
export type Queued<Item> = { item: Item; share: Share<Item> };

export type FairQueueLimits = {
  /** Connections that one organization may hold; as many of its calls may wait. */
  perOrganization: number;
  /** Calls that may wait, of all organizations together. */
  waiting: number;
};

export class FairQueue<Item> {
  readonly #limits: FairQueueLimits;
  readonly #shares = new Map<string, Share<Item>>();
  /** The organizations that wait and may hold more than they do, in the order of their turns. */
  readonly #turns = new Set<Share<Item>>();
  #waiting = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /** Returns the share of an organization: the one look-up that a call costs which does not wait. */
  shareOf(organizationId: string): Share<Item> {
    let share = this.#shares.get(organizationId);
    if (share === undefined) {
      share = { held: 0, waiting: new Map() };
      this.#shares.set(organizationId, share);
    }
    return share;
  }

  /** Whether an organization may hold one more connection. */
  mayHold(share: Share<Item>): boolean {
    return share.held < this.#limits.perOrganization;
  }

  /** Notes that an organization's call has a connection without having waited. */
  hold(share: Share<Item>): void {
    share.held += 1;
  }

  /** Notes that an organization's call has let its connection go. */
  release(share: Share<Item>): void {
    share.held -= 1;
    if (share.waiting.size > 0) this.#turns.add(share);
  }

  /**
   * Lets a call wait, and returns the one that must be refused for it, which may be itself; null: there was room. Where
   * all places are taken, the newest call of the organization with the most waiting calls has to go, so that a long line
   * keeps no other organization out.
   */
  wait(share: Share<Item>, item: Item, deadline: number): Queued<Item> | null {
    if (share.waiting.size >= this.#limits.perOrganization) return { item, share };
    share.waiting.set(item, deadline);
    this.#waiting += 1;
    if (this.mayHold(share)) this.#turns.add(share);
    if (this.#waiting <= this.#limits.waiting) return null;
    const longest = this.#longest(share);
    const newest = [...longest.waiting.keys()].at(-1)!;
    this.leave(longest, newest);
    return { item: newest, share: longest };
  }

  /** Takes a call out of its line. Harmless when it is not there. */
  leave(share: Share<Item>, item: Item): void {
    if (!share.waiting.delete(item)) return;
    this.#waiting -= 1;
    if (share.waiting.size === 0) this.#turns.delete(share);
  }

  /** Takes the call whose turn it is, for a connection that its organization holds from now on; null: none may go. */
  next(): Queued<Item> | null {
    for (const share of this.#turns) {
      const [item] = share.waiting.keys();
      // An organization in turn has a call that waits.
      if (item === undefined) continue;
      this.#turns.delete(share);
      this.leave(share, item);
      share.held += 1;
      if (share.waiting.size > 0 && this.mayHold(share)) this.#turns.add(share);
      return { item, share };
    }
    return null;
  }

  /** Takes out the calls that have waited until their deadline, and forgets the organizations without any call. */
  takeLate(now: number): Queued<Item>[] {
    const late: Queued<Item>[] = [];
    for (const [organizationId, share] of this.#shares) {
      for (const [item, deadline] of share.waiting) {
        if (deadline > now) break;
        this.leave(share, item);
        late.push({ item, share });
      }
      if (share.held === 0 && share.waiting.size === 0) this.#shares.delete(organizationId);
    }
    return late;
  }

  /** Empties every line. */
  clear(): void {
    for (const { waiting } of this.#shares.values()) waiting.clear();
    this.#turns.clear();
    this.#waiting = 0;
  }

  #longest(own: Share<Item>): Share<Item> {
    let longest = own;
    for (const share of this.#shares.values()) if (share.waiting.size > longest.waiting.size) longest = share;
    return longest;
  }
}
