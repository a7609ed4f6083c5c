/**
 * A sink that follows the change feed during a run, twice, through the door that is shut for the services: every record must
 * be in the feed as its effect shows it, and none twice.
 */
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres, type Sql } from '#platform/postgres/mod.ts';
import { runSink } from '../../../sinks/feed/mod.ts';
import { waitFor } from '../../support/assay.ts';
import { countingSink, feedMetrics } from '../../support/counting-sink.ts';
import { polledChanges } from '../../support/polled-changes.ts';
import { countRecords } from './store.ts';

export type FeedWatch = {
  /** Lets the sink apply what is left, and compares. Returns what is wrong, in sentences. */
  finish(withinMs: number): Promise<string[]>;
  stop(): Promise<void>;
};

const STATEMENT_TIMEOUT_MS = 60_000;
/** As of two ingest processes. */
const PROCESSES = 2;

/**
 * Starts to follow the feed.
 * @param url through the door
 * @param sql past it
 */
export async function followFeed(url: string, sql: Sql): Promise<FeedWatch> {
  const sink = await countingSink(sql, 'chaos');
  const log = createLogger({ role: 'chaos', level: 'silent' });
  const metrics = feedMetrics();
  const running = Array.from({ length: PROCESSES }, () => {
    const pool = connectPostgres({
      url,
      max: 1,
      applicationName: 'chaos-feed',
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
    const { stop } = runSink({ sql: pool, log, feedMetrics: metrics, sink, changes: polledChanges(1_000) });
    return async () => {
      await stop();
      await pool.end({ timeout: 1 });
    };
  });
  let stopping: Promise<unknown> | undefined;
  const stop = async () => {
    stopping ??= Promise.all(running.map((end) => end()));
    await stopping;
  };
  return {
    stop,
    async finish(withinMs) {
      const stored = await countRecords(sql);
      const isThere = async () => (await sql`select count(*)::int4 as count from seen`)[0]!.count >= stored;
      const isInTime = await waitFor('the feed', isThere, withinMs).then(
        () => true,
        () => false,
      );
      await stop();
      const wrong = await compare(sql);
      return isInTime ? wrong : ['the feed did not bring every record in time', ...wrong];
    },
  };
}

/** Returns the records that the sink has seen not once, and what it has seen that is no record. */
async function compare(sql: Sql): Promise<string[]> {
  const rows = await sql<{ requestId: string; times: number; isStored: boolean }[]>`
    select request_id as "requestId", coalesce(seen.times, 0)::int4 as times, r.request_id is not null as "isStored"
      from assay.requests r
      full join (select organization_id, created_at, request_id, count(*) as times from seen
                  where kind = 'record' group by organization_id, created_at, request_id) seen
           using (organization_id, created_at, request_id)
     where r.request_id is null or seen.times is distinct from 1
     limit 100`;
  return rows.map(({ requestId, times, isStored }) =>
    isStored
      ? `feed: the record ${requestId} came ${times} times`
      : `feed: ${requestId} came, and there is no such record`,
  );
}
