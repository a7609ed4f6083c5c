/** The changes of clocks in all time zones, found by luxon. */
import { IANAZone } from 'luxon';

/** All zones that the runtime knows. */
const TIME_ZONES: readonly string[] = Intl.supportedValuesOf('timeZone');

/** Shorter than the time between two changes: Morocco's clock is set back for the 30 days of Ramadan. */
const STEP_MS = 28 * 86_400_000;

/** Returns the moments between two years at which a zone's difference from UTC changes, in milliseconds since the epoch. */
function clockChanges(timeZone: string, fromYear: number, toYear: number): number[] {
  const zone = IANAZone.create(timeZone);
  const changes: number[] = [];
  const end = Date.UTC(toYear, 0, 1);
  for (let from = Date.UTC(fromYear, 0, 1); from < end; from += STEP_MS) {
    let [before, after] = [from, from + STEP_MS];
    if (zone.offset(before) === zone.offset(after)) continue;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (zone.offset(middle) === zone.offset(before)) before = middle;
      else after = middle;
    }
    changes.push(after);
  }
  return changes;
}

/** Returns one zone of each set of zones whose clocks show the same between two years, with its changes. */
export function zonesWithChanges(fromYear: number, toYear: number): Map<string, number[]> {
  const distinct = new Map<string, [timeZone: string, changes: number[]]>();
  for (const timeZone of TIME_ZONES) {
    const changes = clockChanges(timeZone, fromYear, toYear);
    const zone = IANAZone.create(timeZone);
    const shown = [Date.UTC(fromYear, 0, 1), ...changes].map((ms) => [ms, zone.offset(ms)]);
    distinct.set(JSON.stringify(shown), [timeZone, changes]);
  }
  return new Map(distinct.values());
}
