/**
 * Dirty holds: what this gateway knows of each counter and the counter does not. It goes to the counter with the next
 * request about it, and until then the gateway takes it into account itself: so successive calls of one gateway are
 * decided by what the earlier ones cost, not by their estimates.
 */
import { type Hold, overdraftNano } from './hold.ts';

type DirtyHolds = {
  /** Takes over a hold's state after any change; `isDirty`: the counter does not know of all of it. */
  update(hold: Hold, isDirty: boolean): void;
  /** Returns the dirty holds of a counter, the oldest first. */
  holdsOf(counter: string): ReadonlySet<Hold>;
  /** Returns what the calls of this gateway use of a counter beyond what the counter has counted. */
  overdraftNano(counter: string): number;
};

type Entry = { holds: Set<Hold>; overdraftNano: number };

const NO_HOLDS: ReadonlySet<Hold> = new Set();

/** Creates the dirty holds of a process. */
export function createDirtyHolds(): DirtyHolds {
  const entries = new Map<string, Entry>();
  /** Overdraft of each dirty hold, as it is included in the sum of its counter. */
  const overdrafts = new Map<Hold, number>();

  function entryOf(counter: string): Entry {
    let entry = entries.get(counter);
    if (entry === undefined) {
      entry = { holds: new Set(), overdraftNano: 0 };
      entries.set(counter, entry);
    }
    return entry;
  }

  return {
    update(hold, isDirty) {
      const before = overdrafts.get(hold);
      if (!isDirty && before === undefined) return;
      const entry = entryOf(hold.counter);
      const overdraft = isDirty ? overdraftNano(hold) : 0;
      entry.overdraftNano += overdraft - (before ?? 0);
      if (isDirty) {
        entry.holds.add(hold);
        overdrafts.set(hold, overdraft);
        return;
      }
      entry.holds.delete(hold);
      overdrafts.delete(hold);
      if (entry.holds.size === 0) entries.delete(hold.counter);
    },
    holdsOf: (counter) => entries.get(counter)?.holds ?? NO_HOLDS,
    overdraftNano: (counter) => entries.get(counter)?.overdraftNano ?? 0,
  };
}
