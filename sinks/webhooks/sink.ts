/**
 * The sink of webhooks: makes deliveries of changes, in the transaction that moves its cursor, so that a killed process loses
 * none. An organization without webhooks costs its share of one look-up.
 */
import { createHash } from 'node:crypto';
import { WEBHOOKS_CHANNEL } from '#core/contracts/channels.ts';
import { MAX_PENDING_DELIVERIES } from '#core/contracts/webhook.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { Change, Sink } from '../feed/mod.ts';
import { countPending, eraseContent, insertDeliveries, type NewDelivery } from './deliveries.ts';
import { type Happening, happeningsOf } from './events.ts';
import { createFiltering } from './filtering.ts';
import { type Known, withFacts } from './known.ts';
import type { Facts } from './matching.ts';
import { createPatience, type Patience } from './patience.ts';
import {
  noteLostFeed,
  noteMissed,
  type Pause,
  pauseWebhooks,
  type SinkWebhook,
  selectWebhooks,
} from './webhooks.ts';

export type WebhookSinkOptions = {
  log: Logger;
  clock: Clock;
  /** Overrides how long the filters of an organization may take for a batch, in milliseconds. */
  filterBudgetMs?: number;
};

/** Makes the sink of webhooks. */
export function createWebhookSink(options: WebhookSinkOptions): Sink {
  const patience = createPatience(options.clock);
  return {
    name: 'webhooks',

    async apply(tx, changes) {
      const organizations = [...new Set(changes.map(({ organizationId }) => organizationId))];
      const webhooks = await selectWebhooks(tx, organizations);
      if (webhooks.length > 0) await makeDeliveries(tx, changes, webhooks, { ...options, patience });
      const erased = changes.filter(({ kind }) => kind === 'deleted');
      await eraseContent(
        tx,
        erased.flatMap(({ organizationId, keys }) =>
          keys.map(({ requestId }) => ({ organizationId, requestId })),
        ),
      );
    },

    async resume(tx, sinceMs) {
      const count = await noteLostFeed(tx, sinceMs);
      if (count === 0) return;
      const since = sinceMs === null ? null : new Date(sinceMs).toISOString();
      options.log.warn(
        { webhooks: count, since },
        'events were not sent to webhooks, because the feed was lost',
      );
    },
  };
}

type Delivering = WebhookSinkOptions & { patience: Patience };

/** Notes what paused webhooks miss, and makes the deliveries of the others; one with too many waiting is paused. */
async function makeDeliveries(
  tx: TransactionSql,
  changes: readonly Change[],
  webhooks: readonly SinkWebhook[],
  options: Delivering,
): Promise<void> {
  await noteMissed(
    tx,
    missedBy(
      webhooks.filter(({ isPaused }) => isPaused),
      changes,
    ),
  );
  const active = webhooks.filter(({ isPaused }) => !isPaused);
  const wanted = wantedBy(active, changes);
  if (wanted.length === 0) return;
  const known = await withFacts(tx, wanted);
  const { deliveries, pauses } = await assign(tx, active, known, options);
  const { fitting, full } = await withinBacklog(tx, deliveries);
  await insertDeliveries(tx, fitting);
  const all = [...pauses, ...full];
  await pauseWebhooks(tx, all);
  for (const { webhookId, reason, message } of all) {
    options.log.warn({ webhookId, reason, message }, 'a webhook was paused');
  }
  if (fitting.length > 0) await tx`select pg_notify(${WEBHOOKS_CHANNEL}, '')`;
}

/** Returns the paused webhooks that miss an event older than those they are known to miss. */
function missedBy(paused: readonly SinkWebhook[], changes: readonly Change[]) {
  return paused.flatMap(({ webhookId, organizationId, missedFrom }) => {
    const times = changes
      .filter((change) => change.organizationId === organizationId)
      .map(({ at }) => at.getTime());
    const first = Math.min(...times);
    return missedFrom !== null && first >= missedFrom.getTime() ? [] : [{ webhookId, at: new Date(first) }];
  });
}

/** Returns the happenings that some webhook asks for. */
function wantedBy(webhooks: readonly SinkWebhook[], changes: readonly Change[]): Happening[] {
  const wanted = new Map<string, Set<string>>();
  for (const { organizationId, events } of webhooks) {
    wanted.set(organizationId, new Set([...(wanted.get(organizationId) ?? []), ...events]));
  }
  return changes
    .filter(({ organizationId }) => wanted.has(organizationId))
    .flatMap(happeningsOf)
    .filter(({ organizationId, event }) => wanted.get(organizationId)!.has(event));
}

/** Assigns happenings to the webhooks that ask for them and whose filters they pass. */
async function assign(
  tx: TransactionSql,
  webhooks: readonly SinkWebhook[],
  known: readonly Known[],
  options: Delivering,
): Promise<{ deliveries: NewDelivery[]; pauses: Pause[] }> {
  const deliveries: NewDelivery[] = [];
  const pauses: Pause[] = [];
  const filtering = createFiltering(tx, options.patience, options);
  for (const webhook of webhooks) {
    const asked = known.filter(
      ({ happening: { organizationId, event, only } }) =>
        organizationId === webhook.organizationId &&
        webhook.events.includes(event) &&
        (only === null || only.includes(webhook.webhookId)),
    );
    const passing = await filtering.pass(webhook, asked);
    if ('pause' in passing) pauses.push(passing.pause);
    else deliveries.push(...passing.known.map((one) => deliveryOf(webhook.webhookId, one)));
  }
  return { deliveries, pauses };
}

function deliveryOf(webhookId: string, { happening, facts }: Known): NewDelivery {
  const onceKey = happening.event === 'limit.reached' ? limitKey(happening.at, facts!) : null;
  return { webhookId, happening, onceKey };
}

const MINUTE_MS = 60_000;

/** Names the minute, the API key and the user of a refused call: a webhook gets one event for each such name. */
function limitKey(at: Date, { apiKeyId, userId }: Facts): string {
  const minute = Math.floor(at.getTime() / MINUTE_MS);
  const text = JSON.stringify([minute, apiKeyId, userId]);
  return `limit ${createHash('sha256').update(text).digest('base64url')}`;
}

/** Leaves out the deliveries of webhooks that would have more waiting than they may. */
async function withinBacklog(
  tx: TransactionSql,
  deliveries: readonly NewDelivery[],
): Promise<{ fitting: NewDelivery[]; full: Pause[] }> {
  const byWebhook = Map.groupBy(deliveries, ({ webhookId }) => webhookId);
  if (byWebhook.size === 0) return { fitting: [], full: [] };
  const pending = await countPending(tx, [...byWebhook.keys()]);
  const fitting: NewDelivery[] = [];
  const full: Pause[] = [];
  for (const [webhookId, own] of byWebhook) {
    if ((pending.get(webhookId) ?? 0) + own.length <= MAX_PENDING_DELIVERIES) {
      fitting.push(...own);
      continue;
    }
    const message = `More than ${MAX_PENDING_DELIVERIES} deliveries would wait`;
    const first = Math.min(...own.map(({ happening }) => happening.at.getTime()));
    full.push({ webhookId, reason: 'backlog', message, missedFrom: new Date(first) });
  }
  return { fitting, full };
}
