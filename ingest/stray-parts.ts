/**
 * Removes parts of entries that were stored without them. When a process dies after the commit that stored an entry and before
 * it acknowledged the entry's last parts, those are delivered again, and wait in the table for others that are gone.
 */
import type { StreamPositions } from '#platform/log-pipeline/stream/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';

/**
 * Time between two looks. Longer than it takes to publish an entry, and than JetStream remembers a message's id: a forwarder that
 * died in the middle of an entry publishes all of it again, and what is remembered would not be delivered a second time.
 */
const LOOK_EVERY_MS = 20 * 60_000;
/** Entries that one look finds. Of more, the next ones are found when these are gone. */
const FOUND_AT_ONCE = 1_000;

/** The versions of the parts of each entry, by origin. */
type Look = { parts: Map<string, string>; lastSequence: number };

export class StrayParts {
  readonly #sql: Sql;
  readonly #everyMs: number;
  /** The last two, the older one first. */
  #looks: Look[] = [];
  #lookedAtMs: number | null = null;

  constructor(sql: Sql, everyMs = LOOK_EVERY_MS) {
    this.#sql = sql;
    this.#everyMs = everyMs;
  }

  /**
   * Looks, if it is time for it, and deletes the parts that two earlier looks found, too, once all messages of the time until
   * the later of them are acknowledged: the rest of an entry would have come by then. By looks and not by the age of a part, because
   * the clock goes on while a machine sleeps. A part that came again is another one: its entry is being published anew.
   * @param positions of the stream, asked for before the look
   */
  async lookIfDue(positions: () => Promise<StreamPositions>): Promise<void> {
    const now = performance.now();
    if (this.#lookedAtMs !== null && now - this.#lookedAtMs < this.#everyMs) return;
    this.#lookedAtMs = now;
    const { lastSequence, acknowledgedSequence } = await positions();
    const rows = await this.#sql<{ origin: string; versions: string }[]>`
      select origin, string_agg(xmin::text, ' ' order by cut_bytes, part) as versions
        from assay.entry_parts group by origin order by origin limit ${FOUND_AT_ONCE}`;
    const parts = new Map(rows.map(({ origin, versions }) => [origin, versions]));
    const [first, second] = this.#looks;
    if (first !== undefined && second !== undefined && acknowledgedSequence >= second.lastSequence) {
      const strays = [...parts].filter(
        ([origin, versions]) => first.parts.get(origin) === versions && second.parts.get(origin) === versions,
      );
      if (strays.length > 0) await this.#remove(new Map(strays));
    }
    this.#looks = [...this.#looks.slice(-1), { parts, lastSequence }];
  }

  /** Deletes parts, but for those that have come again since the look. */
  async #remove(strays: Look['parts']): Promise<void> {
    await this.#sql`
      delete from assay.entry_parts p
       using unnest(${[...strays.keys()]}::text[], ${[...strays.values()]}::text[]) as stray (origin, versions)
       where p.origin = stray.origin and p.xmin::text = any (string_to_array(stray.versions, ' '))`;
  }
}
