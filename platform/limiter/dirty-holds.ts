/**
 * What this process knows of each counter and the store does not know yet. It goes to the store with the next question
 * about the counter, and until then it is taken into account here: so the calls of one gateway that come one after the
 * other are decided by what the earlier ones cost, not by their estimates.
 */
import { type Hold, overdraftNano } from './hold.ts';

export type DirtyHolds = {
  /** Notes how a hold stands after any change to it; `isOwing`: there is something to tell. */
  update(hold: Hold, isOwing: boolean): void;
  /** The holds of a counter about which there is something to tell, the oldest first. */
  holdsOf(counter: string): ReadonlySet<Hold>;
  /** Nano-dollars that count in a counter beyond what the store counts. */
  overdraftNano(counter: string): number;
};

type Entry = { holds: Set<Hold>; overdraft: number };

const NO_HOLDS: ReadonlySet<Hold> = new Set();

/** Makes the notes of a process. */
export function createDirtyHolds(): DirtyHolds {
  const entries = new Map<string, Entry>();
  /** The overdraft of each hold as it is contained in its counter's. */
  const overdrafts = new Map<Hold, number>();

  function entryOf(counter: string): Entry {
    let entry = entries.get(counter);
    if (entry === undefined) {
      entry = { holds: new Set(), overdraft: 0 };
      entries.set(counter, entry);
    }
    return entry;
  }

  return {
    update(hold, isOwing) {
      const before = overdrafts.get(hold);
      if (!isOwing && before === undefined) return;
      const entry = entryOf(hold.counter);
      const overdraft = isOwing ? overdraftNano(hold) : 0;
      entry.overdraft += overdraft - (before ?? 0);
      if (isOwing) {
        entry.holds.add(hold);
        overdrafts.set(hold, overdraft);
        return;
      }
      entry.holds.delete(hold);
      overdrafts.delete(hold);
      if (entry.holds.size === 0) entries.delete(hold.counter);
    },
    holdsOf: (counter) => entries.get(counter)?.holds ?? NO_HOLDS,
    overdraftNano: (counter) => entries.get(counter)?.overdraft ?? 0,
  };
}
