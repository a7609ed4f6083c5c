/** Webhooks: addresses that an organization has its events posted to. The sinks make the deliveries. */
import { randomUUID } from 'node:crypto';
import { WEBHOOKS_CHANNEL } from '#core/contracts/channels.ts';
import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import {
  type ChangeWebhookBody,
  type CreateWebhookBody,
  type DeliveriesQuery,
  type DeliveryJson,
  type DeliveryPage,
  MAX_WEBHOOKS,
  type NewWebhookJson,
  type RedeliverBody,
  type RedeliveredJson,
  type RotateWebhookBody,
  type WebhookJson,
} from '#core/contracts/webhook.ts';
import { parseTimestamp } from '#core/filter/mod.ts';
import { inOrganization, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { SecretBox } from '#platform/secrets/mod.ts';
import { newDeliveryId, newWebhookSecret, sealWebhookSecrets } from '#platform/webhooks/mod.ts';
import { unknown } from '../ids.ts';
import {
  getDelivery,
  insertTest,
  listDeliveries,
  redeliver,
  redeliverFailed,
  requireRoom,
} from './deliveries.ts';
import { type CheckUrl, readChange, readSettings } from './read-body.ts';
import { requireSealing, sealNext } from './secrets.ts';
import {
  insertWebhook,
  lockWebhooks,
  markDeleted,
  pauseWebhook,
  resumeWebhook,
  selectWebhooks,
  updateSecrets,
  updateWebhook,
  type WebhookRow,
} from './store.ts';
import { toWebhookJson } from './webhook-json.ts';

export { readDeliveryId } from './deliveries.ts';

export type WebhookService = {
  /** @throws AssayError invalid_body, invalid_filter; conflict when there are too many */
  create(organizationId: string, body: CreateWebhookBody): Promise<NewWebhookJson>;
  /** Lists webhooks, newest first. */
  list(organizationId: string): Promise<WebhookJson[]>;
  /** @throws AssayError not_found, as all that follow */
  get(organizationId: string, webhookId: string): Promise<WebhookJson>;
  /** Changes, pauses or resumes a webhook. @throws AssayError invalid_body, invalid_filter */
  change(organizationId: string, webhookId: string, body: ChangeWebhookBody): Promise<WebhookJson>;
  remove(organizationId: string, webhookId: string): Promise<null>;
  /** Creates a new secret; the old one signs, too, for a while. @throws AssayError invalid_body without a SECRET_KEY */
  rotate(organizationId: string, webhookId: string, body: RotateWebhookBody): Promise<NewWebhookJson>;
  /** Sends a test message. @throws AssayError conflict while the webhook is paused */
  test(organizationId: string, webhookId: string): Promise<DeliveryJson>;
  deliveries(organizationId: string, webhookId: string, query: DeliveriesQuery): Promise<DeliveryPage>;
  delivery(organizationId: string, webhookId: string, deliveryId: string): Promise<DeliveryJson>;
  /** @throws AssayError conflict */
  redeliver(organizationId: string, webhookId: string, deliveryId: string): Promise<DeliveryJson>;
  /** Redelivers all deliveries that failed since a given time. @throws AssayError invalid_body for an invalid time */
  redeliverFailed(organizationId: string, webhookId: string, body: RedeliverBody): Promise<RedeliveredJson>;
};

export type WebhookServiceOptions = {
  /** A pool under the role `assay_api`. */
  sql: Sql;
  clock: Clock;
  secrets: SecretBox;
  checkUrl: CheckUrl;
};

export function createWebhookService(options: WebhookServiceOptions): WebhookService {
  const { sql, clock, secrets, checkUrl } = options;

  /** Runs a change of a webhook, one at a time, and returns the webhook as it is afterwards. */
  function changing(
    organizationId: string,
    webhookId: string,
    work: (tx: TransactionSql, row: WebhookRow, at: Date) => Promise<void>,
  ): Promise<WebhookJson> {
    return inOrganization(sql, organizationId, async (tx) => {
      await lockWebhooks(tx, organizationId);
      const at = new Date(clock.now());
      await work(tx, await existing(tx, organizationId, webhookId), at);
      return toWebhookJson(await existing(tx, organizationId, webhookId), at.getTime());
    });
  }

  /** Runs work on the deliveries of an existing webhook. */
  function ofWebhook<T>(
    organizationId: string,
    webhookId: string,
    work: (tx: TransactionSql, row: WebhookRow) => Promise<T>,
  ): Promise<T> {
    return inOrganization(sql, organizationId, async (tx) =>
      work(tx, await existing(tx, organizationId, webhookId)),
    );
  }

  return {
    async create(organizationId, body) {
      const settings = readSettings(body, checkUrl);
      requireSealing(secrets);
      const webhookId = randomUUID();
      const secret = newWebhookSecret();
      const sealed = sealWebhookSecrets(secrets, { organizationId, webhookId }, { secret });
      return inOrganization(sql, organizationId, async (tx) => {
        await lockWebhooks(tx, organizationId);
        await refuseTooMany(tx, organizationId);
        const at = new Date(clock.now());
        await insertWebhook(tx, { ...settings, organizationId, webhookId, sealed, at });
        return { ...toWebhookJson(await existing(tx, organizationId, webhookId), at.getTime()), secret };
      });
    },

    list: (organizationId) =>
      inOrganization(sql, organizationId, async (tx) =>
        (await selectWebhooks(tx, organizationId)).map((row) => toWebhookJson(row, clock.now())),
      ),

    get: (organizationId, webhookId) =>
      ofWebhook(organizationId, webhookId, async (_, row) => toWebhookJson(row, clock.now())),

    change: (organizationId, webhookId, body) =>
      changing(organizationId, webhookId, async (tx, row, at) => {
        const settings = readChange(body, row, checkUrl);
        await updateWebhook(tx, organizationId, webhookId, { settings, at });
        if (body.state === 'paused') await pauseWebhook(tx, organizationId, webhookId);
        if (body.state === 'active') await resumeWebhook(tx, organizationId, webhookId);
        await wakeCouriers(tx);
      }),

    remove: (organizationId, webhookId) =>
      inOrganization(sql, organizationId, async (tx) => {
        await lockWebhooks(tx, organizationId);
        await existing(tx, organizationId, webhookId);
        await markDeleted(tx, organizationId, webhookId, new Date(clock.now()));
        return null;
      }),

    async rotate(organizationId, webhookId, { overlapSeconds }) {
      requireSealing(secrets);
      const secret = newWebhookSecret();
      const webhook = await changing(organizationId, webhookId, async (tx, row, at) => {
        const owner = { organizationId, webhookId };
        const { sealed, hasPrevious } = sealNext(secrets, owner, {
          secret,
          before: row.sealed,
          overlapSeconds,
        });
        const until = new Date(at.getTime() + overlapSeconds * 1_000);
        await updateSecrets(tx, organizationId, webhookId, {
          sealed,
          previousUntil: hasPrevious ? until : null,
          at,
        });
      });
      return { ...webhook, secret };
    },

    test: (organizationId, webhookId) =>
      ofWebhook(organizationId, webhookId, async (tx, row) => {
        if (row.paused_reason !== null) {
          throw new AssayError('conflict', 'The webhook is paused: resume it before it is tested');
        }
        await requireRoom(tx, { organizationId, webhookId });
        const deliveryId = newDeliveryId(clock.now());
        await insertTest(tx, { organizationId, webhookId }, deliveryId);
        await wakeCouriers(tx);
        return getDelivery(tx, { organizationId, webhookId }, deliveryId);
      }),

    deliveries: (organizationId, webhookId, query) =>
      ofWebhook(organizationId, webhookId, (tx) => listDeliveries(tx, { organizationId, webhookId }, query)),

    delivery: (organizationId, webhookId, deliveryId) =>
      ofWebhook(organizationId, webhookId, (tx) =>
        getDelivery(tx, { organizationId, webhookId }, deliveryId),
      ),

    redeliver: (organizationId, webhookId, deliveryId) =>
      ofWebhook(organizationId, webhookId, async (tx) => {
        const webhook = { organizationId, webhookId };
        await redeliver(tx, webhook, deliveryId);
        await wakeCouriers(tx);
        return getDelivery(tx, webhook, deliveryId);
      }),

    redeliverFailed: (organizationId, webhookId, body) =>
      ofWebhook(organizationId, webhookId, async (tx) => {
        const redelivered = await redeliverFailed(tx, { organizationId, webhookId }, readSince(body));
        await wakeCouriers(tx);
        return redelivered;
      }),
  };
}

async function existing(tx: TransactionSql, organizationId: string, webhookId: string): Promise<WebhookRow> {
  const [row] = await selectWebhooks(tx, organizationId, webhookId);
  if (row !== undefined) return row;
  throw unknown('webhook', webhookId);
}

async function refuseTooMany(tx: TransactionSql, organizationId: string): Promise<void> {
  if ((await selectWebhooks(tx, organizationId)).length < MAX_WEBHOOKS) return;
  throw new AssayError(
    'conflict',
    `The organization has ${MAX_WEBHOOKS} webhooks, which is the most: delete one`,
  );
}

/** Notifies the sinks, once the transaction is committed, that deliveries may be due. */
async function wakeCouriers(tx: TransactionSql): Promise<void> {
  await tx`select pg_notify(${WEBHOOKS_CHANNEL}, '')`;
}

function readSince({ since }: RedeliverBody): Date {
  const at = parseTimestamp(since);
  if (at !== null) return new Date(at);
  throw invalidField(
    'since',
    `must be an RFC 3339 timestamp like "2026-01-31T12:00:00.000Z", but is ${quoteValue(since)}`,
  );
}
