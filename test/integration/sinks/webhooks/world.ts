/** Webhooks from end to end: the API that makes them, the sink that reads changes, and a courier that posts to real receivers. */
import type { DeliveryJson, NewWebhookJson, WebhookJson } from '#core/contracts/webhook.ts';
import { noteChange } from '#platform/changes/mod.ts';
import { createOutbound, parseAllowList } from '#platform/outbound/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { createSecretBox } from '#platform/secrets/mod.ts';
import { runSink } from '../../../../sinks/feed/mod.ts';
import { Courier, type CourierOptions } from '../../../../sinks/webhooks/courier.ts';
import { createWebhookSink } from '../../../../sinks/webhooks/sink.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { waitFor } from '../../../support/assay.ts';
import { feedMetrics } from '../../../support/counting-sink.ts';
import { polledChanges } from '../../../support/polled-changes.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';
import { type Receiver, startReceiver } from '../../../support/webhook-receiver.ts';
import { type Owner, silentLog } from '../../../support/world.ts';

const SECRET_KEY = Buffer.alloc(32, 7);

/** Waits of a schedule that a test can wait for, without jitter. */
export const SHORT_WAITS_MS = [0, 40, 80, 120];

export type WebhookWorld = {
  api: TestApi;
  receiver(): Promise<Receiver>;
  /** Makes a webhook. */
  make(body: object, key?: string): Promise<NewWebhookJson>;
  get(id: string): Promise<WebhookJson>;
  change(id: string, body: object): Promise<WebhookJson>;
  deliveries(id: string, query?: string): Promise<DeliveryJson[]>;
  /** Waits until the newest delivery of a webhook is as expected. */
  settled(id: string, state: DeliveryJson['state']): Promise<DeliveryJson>;
  /** Stores requests, and notes the change as ingest does. Returns their ids. */
  log(requests: readonly Partial<SeedRequest>[], organizationId?: string): Promise<string[]>;
  /** Starts a courier beside the one that is there. */
  courier(options?: Partial<CourierOptions>): { courier: Courier; stop(): Promise<void> };
};

export const outboundTo = (hosts: readonly string[]) => {
  const allowed = parseAllowList(hosts);
  if ('badEntry' in allowed) throw new Error(allowed.badEntry);
  return createOutbound({ allow: allowed.allow });
};

/** Starts it, with one courier unless told otherwise. */
export async function startWebhookWorld(
  owner: Owner,
  options: { delivers?: boolean; courier?: Partial<CourierOptions> } = {},
): Promise<WebhookWorld> {
  const api = await startTestApi(owner, {
    environment: { SECRET_KEY: SECRET_KEY.toString('base64'), OUTBOUND_ALLOW: '127.0.0.1' },
  });
  const { sql } = api.database;
  const outbound = outboundTo(['127.0.0.1']);
  owner.teardown(() => outbound.close());
  const sink = runSink({
    sql,
    log: silentLog,
    feedMetrics: feedMetrics(),
    sink: createWebhookSink({ log: silentLog, clock: systemClock }),
    everyMs: 10,
    changes: polledChanges(10),
  });
  owner.teardown(() => sink.stop());
  // A sink that is new takes up the feed where it stands.
  await waitFor(
    'the sink',
    async () => (await sql`select from assay.sinks where state = 'running'`).length === 1,
  );

  function courier(given: Partial<CourierOptions> = {}) {
    const started = new Courier({
      sql,
      log: silentLog,
      clock: systemClock,
      outbound,
      secrets: createSecretBox([SECRET_KEY]),
      schedule: { waitsMs: SHORT_WAITS_MS, random: () => 0 },
      longestSleepMs: () => 10,
      ...given,
    });
    const running = started.run();
    const stop = async () => {
      started.stop();
      await running;
    };
    owner.teardown(stop);
    return { courier: started, stop };
  }
  if (options.delivers !== false) courier(options.courier);

  async function ok<T>(path: string, call?: Parameters<TestApi['call']>[1]): Promise<T> {
    const answer = await api.call(path, call);
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    return answer.body.data as T;
  }
  const deliveries = async (id: string, query = '?limit=100') =>
    (await ok<{ deliveries: DeliveryJson[] }>(`/v1/webhook/${id}/deliveries${query}`)).deliveries;

  return {
    api,
    courier,
    deliveries,
    receiver: () => startReceiver(owner),
    make: (body, key = api.own.key) => ok('/v1/webhook', { body, key }),
    get: (id) => ok(`/v1/webhook/${id}`),
    change: (id, body) => ok(`/v1/webhook/${id}`, { method: 'PATCH', body }),
    async settled(id, state) {
      let newest: DeliveryJson | undefined;
      await waitFor(`a delivery that is ${state}`, async () => {
        [newest] = await deliveries(id);
        return newest?.state === state;
      });
      return newest!;
    },
    async log(requests, organizationId = api.own.organizationId) {
      const stored = await insertRequests(sql, organizationId, [...requests]);
      const keys = stored.map(({ created_at: createdAt, request_id: requestId }) => ({
        createdAt,
        requestId,
      }));
      await sql.begin((tx) => noteChange(tx, { organizationId, kind: 'record', keys }));
      return keys.map(({ requestId }) => requestId);
    },
  };
}
