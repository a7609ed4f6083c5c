/** When keys were used last: noted in memory at each call, and written once a minute, far from any call. */
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../observability/log.ts';
import { answeredWithin, type Sql } from '../postgres/mod.ts';

export type KeyUses = {
  /** Notes that a key was used, to the minute. */
  note(keyId: string, nowMs: number): void;
  /** Writes what was noted, in one statement. What could not be written is noted again. */
  flush(): Promise<void>;
  /** Writes what was noted, and stops. */
  stop(): Promise<void>;
};

const MINUTE_MS = 60_000;
/** A statement on a dead connection never ends; the last one is waited for when the process stops. */
const WRITE_WITHIN_MS = 1_000;
/** More than the keys that a process caches, so that an outage of a day cannot fill the memory. */
const MAX_NOTED = 50_000;

/** Creates an empty note book, which is written once a minute. */
export function createKeyUses({ sql, log }: { sql: Sql; log: Logger }): KeyUses {
  /** The minute of the latest use of each key. */
  let noted = new Map<string, number>();

  function noteMinute(keyId: string, minute: number): void {
    const before = noted.get(keyId);
    if (before === minute || (before === undefined && noted.size >= MAX_NOTED)) return;
    noted.set(keyId, before === undefined ? minute : Math.max(before, minute));
  }

  async function flush(): Promise<void> {
    if (noted.size === 0) return;
    const writing = noted;
    noted = new Map();
    try {
      await answeredWithin(WRITE_WITHIN_MS, writeUses(sql, writing));
    } catch (error) {
      for (const [keyId, minute] of writing) noteMinute(keyId, minute);
      log.warn(
        { reason: describeError(error) },
        'When API keys were used last was not written; trying again in a minute',
      );
    }
  }

  const timer = setInterval(flush, MINUTE_MS).unref();
  return {
    note: (keyId, nowMs) => noteMinute(keyId, Math.floor(nowMs / MINUTE_MS)),
    flush,
    stop: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}

/** Writes in the order of the ids, so that processes that write the same keys never wait for each other in a circle. */
async function writeUses(sql: Sql, minutes: ReadonlyMap<string, number>): Promise<void> {
  const sorted = [...minutes].sort(([one], [other]) => (one < other ? -1 : 1));
  await sql`
    insert into assay.api_key_uses (key_id, organization_id, last_used_at)
    select key_id, k.organization_id, to_timestamp(used.minute * 60)
    from unnest(${sorted.map(([keyId]) => keyId)}::uuid[], ${sorted.map(([, minute]) => minute)}::bigint[])
      as used (key_id, minute)
    join assay.api_keys k using (key_id)
    order by key_id
    on conflict (key_id) do update set last_used_at = excluded.last_used_at
    where assay.api_key_uses.last_used_at < excluded.last_used_at`;
}
