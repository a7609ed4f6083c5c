/**
 * A process that follows the feed and delivers, as the process of ingest does, with a schedule that a test can wait for. Its
 * only parameter is JSON; it says that it has started.
 */
import { createOutbound, parseAllowList } from '#platform/outbound/mod.ts';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { createSecretBox } from '#platform/secrets/mod.ts';
import { runSink } from '../../sinks/feed/mod.ts';
import { Courier } from '../../sinks/webhooks/courier.ts';
import { createWebhookSink } from '../../sinks/webhooks/sink.ts';
import { feedMetrics } from './counting-sink.ts';
import { polledChanges } from './polled-changes.ts';
import { silentLog } from './world.ts';

export type SenderParameters = {
  databaseUrl: string;
  /** As base64. */
  secretKey: string;
  waitsMs: readonly number[];
  timeoutMs: number;
  leaseMs: number;
};

const given = JSON.parse(process.argv[2] ?? '{}') as SenderParameters;
const sql = connectPostgres({
  url: given.databaseUrl,
  max: 3,
  applicationName: 'webhook-sender',
  statementTimeoutMs: 60_000,
});
const allowed = parseAllowList(['127.0.0.1']);
if ('badEntry' in allowed) throw new Error(allowed.badEntry);
const courier = new Courier({
  sql,
  log: silentLog,
  clock: systemClock,
  outbound: createOutbound({ allow: allowed.allow }),
  secrets: createSecretBox([Buffer.from(given.secretKey, 'base64')]),
  schedule: { waitsMs: given.waitsMs },
  timeoutMs: given.timeoutMs,
  leaseMs: given.leaseMs,
  longestSleepMs: () => 20,
});
const sink = createWebhookSink({ log: silentLog, clock: systemClock });
runSink({ sql, log: silentLog, feedMetrics: feedMetrics(), sink, everyMs: 20, changes: polledChanges(20) });
void courier.run();
process.stdout.write('started\n');
