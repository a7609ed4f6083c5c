/** Whether everything that was logged has arrived in Postgres, as the parts on the way tell. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { LOG_STREAM } from '#core/contracts/channels.ts';
import { listOutboxes } from '#platform/log-pipeline/outbox/mod.ts';
import { findLogConsumer } from '#platform/log-pipeline/stream/log-stream.ts';
import { connectNats } from '#platform/nats/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { readMetric } from './metrics.ts';
import type { Gateway, World } from './world.ts';

export type Drained = {
  /** Milliseconds that it took; null: it was not over in time. */
  tookMs: number | null;
  /** What was still on its way then. */
  waiting: string[];
  /** Messages that the stream keeps although they are stored: a killed nats-server may forget that it deleted them. */
  forgottenMessages: number;
};

const LOOK_EVERY_MS = 500;
/** So often in a row nothing must be on its way: what a process tells of itself is up to a second old. */
const TIMES_QUIET = 4;

/** The outboxes on a gateway's disk. */
export function outboxesOf({ dataDir }: Gateway): Promise<string[]> {
  return listOutboxes(join(dataDir, 'outbox'));
}

/** What a disk holds beside the outboxes of living processes, and what those have sent and not seen stored. */
async function waitingOn(gateway: Gateway): Promise<string[]> {
  const waiting: string[] = [];
  for (const { name, url } of gateway.writers) {
    const unconfirmed = await readMetric(url, 'assay_forwarder_unconfirmed').catch(() => 'unknown');
    if (unconfirmed !== 0) waiting.push(`unconfirmed messages of ${name}: ${unconfirmed}`);
  }
  const left = (await outboxesOf(gateway)).length - gateway.writers.length;
  if (left !== 0) waiting.push(`outboxes left beside ${gateway.service.name}: ${left}`);
  return waiting;
}

async function waitingInStream(manager: JetStreamManager): Promise<string[]> {
  const info = await findLogConsumer(manager).catch(() => null);
  if (info === null) return ['the stream does not answer'];
  const left = info.num_pending + info.num_ack_pending;
  if (left === 0) return [];
  const next = info.ack_floor.stream_seq + 1;
  const message = await manager.streams.getMessage(LOG_STREAM, { seq: next }).catch(() => null);
  const missing =
    message === null ? `; the consumer waits for message ${next}, which the stream does not have` : '';
  return [`messages in the stream: ${left}${missing}`];
}

/** Waits until nothing is on its way any more, for `withinMs` at most. */
export async function drained(
  { nats, gateways }: Pick<World, 'nats' | 'gateways'>,
  withinMs: number,
): Promise<Drained> {
  const connection = await connectNats({
    address: { servers: [nats.url], credentialsFile: null },
    name: 'chaos',
    log: createLogger({ role: 'chaos', level: 'silent' }),
  });
  try {
    const manager = await jetstreamManager(connection);
    const startedAt = performance.now();
    let quietSinceMs: number | null = null;
    let waiting: string[] = [];
    for (let times = 0; times < TIMES_QUIET; ) {
      const elapsedMs = performance.now() - startedAt;
      waiting = (
        await Promise.all([waitingInStream(manager), ...Object.values(gateways).map(waitingOn)])
      ).flat();
      times = waiting.length === 0 ? times + 1 : 0;
      quietSinceMs = waiting.length === 0 ? (quietSinceMs ?? elapsedMs) : null;
      if (elapsedMs > withinMs) break;
      await sleep(LOOK_EVERY_MS);
    }
    const { state } = await manager.streams.info(LOG_STREAM);
    return { tookMs: quietSinceMs, waiting, forgottenMessages: state.messages };
  } finally {
    await connection.close();
  }
}
