/** What calls under a limit in money are reserved, settled and counted at, as it stands in the database. */
import type { Test } from 'tap';
import { waitFor } from '../../../support/assay.ts';
import type { LimitsWorld } from './world.ts';

export const CENT = 10_000_000;
export const cents = (quota: number | string) => ({ 'Service-RateLimit-Policy': `${quota};w=3600;u=cents` });
/** 9 cents: prompt tokens for 3, completion tokens for 6. */
export const NINE_CENTS = { promptTokens: 200_000, completionTokens: 100_000 };

/** A reservation for a call, and its settlement; null: not settled yet. */
type Reservation = { estimate: number; settled: number | null };
/** Cost columns of a record; null: not known, since tokens were estimated later or not at all. */
type Costed = { status: number; cost: number | null; user: string | null };

/** Nothing was bought if nothing was answered; else, where its cost is not known, a call's estimate stands. */
export const dueOf = ({ status, cost }: Costed) => cost ?? (status >= 400 && status !== 499 ? 0 : null);

/** Reads and checks the settlements of the calls with the keys of a world. */
export function settlementsOf(world: LimitsWorld) {
  const readReservations = (key: string) => world.sql<Reservation[]>`
    select r.estimate_nano::float8 as estimate, r.settled_nano::float8 as settled
      from assay.limit_reservations r join assay.limit_counters c using (organization_id, counter_key)
     where c.api_key_id = ${world.idsOf(key).keyId} order by r.charged_ms, r.reservation_id`;

  /** The reservations of a key, oldest first, once there are `count` and all are settled. */
  async function reservations(key: string, count: number): Promise<Reservation[]> {
    await waitFor(`${count} settled reservations`, async () => {
      const rows = await readReservations(key);
      return rows.length >= count && rows.every(({ settled }) => settled !== null);
    });
    return readReservations(key);
  }

  /** The records of a key's calls that were let in, once there are `count`. */
  async function records(key: string, count: number): Promise<Costed[]> {
    const read = () => world.sql<Costed[]>`
      select status, case when not usage_estimated then cost_nano::float8 end as cost, user_id as user
        from assay.requests
       where api_key_id = ${world.idsOf(key).keyId} and error_code is distinct from 'rate_limit_exceeded'`;
    await waitFor(`${count} records`, async () => (await read()).length >= count);
    return read();
  }

  /** Returns the count of a key's counter. */
  async function countedNano(key: string): Promise<number> {
    const [counter] = await world.sql<{ used: number }[]>`
      select (select sum(n) from unnest((windows[1]).counts) n)::float8 as used
        from assay.limit_counters where api_key_id = ${world.idsOf(key).keyId} and unit = 'cents'`;
    return counter?.used ?? 0;
  }

  /** The counter holds what was settled, and that is this. */
  async function checkCounted(
    t: Test,
    key: string,
    settled: readonly Reservation[],
    sum: number,
  ): Promise<void> {
    t.equal(
      settled.reduce((total, { settled }) => total + (settled ?? 0), 0),
      sum,
      'what is settled is what the calls cost',
    );
    await waitFor('the counter to hold their sum', async () => (await countedNano(key)) === sum);
  }

  /** `count` calls, one after the other, were let in and made, and each is settled to what its record says. */
  async function checkSettled(t: Test, key: string, count: number): Promise<Reservation[]> {
    const settled = await reservations(key, count);
    const costed = await records(key, count);
    t.equal(settled.length, count, 'one reservation for each call');
    t.equal(costed.length, count);
    const left = [...settled];
    for (const due of costed.map(dueOf).filter((due) => due !== null)) {
      const place = left.findIndex((reservation) => reservation.settled === due);
      if (place < 0) t.fail(`A call cost ${due}, and nothing was settled to that`);
      else left.splice(place, 1);
    }
    t.ok(
      left.every(({ estimate, settled }) => settled === estimate),
      'where the cost is not known the estimate stands',
    );
    await checkCounted(
      t,
      key,
      settled,
      settled.reduce((sum, { settled }) => sum + (settled ?? 0), 0),
    );
    return settled;
  }

  return { checkCounted, checkSettled, countedNano, records, reservations };
}
