/** Webhooks: the sink that makes deliveries of changes, and the loops that make and keep them. */
import { WEBHOOKS_CHANNEL } from '#core/contracts/channels.ts';
import { allowListOf, createOutbound } from '#platform/outbound/mod.ts';
import { onAnnounced } from '#platform/postgres/mod.ts';
import { createProxyChoice } from '#platform/proxy/mod.ts';
import { createSecretBox } from '#platform/secrets/mod.ts';
import { runSink } from '../feed/mod.ts';
import type { StartPart } from '../part.ts';
import { Courier } from './courier.ts';
import { startDeliveryKeeper } from './keeper.ts';
import { createWebhookSink } from './sink.ts';

/** Starts the sink and the loops of webhooks. */
export const startWebhooks: StartPart = (context) => {
  const { sql, listener, config, log, clock, metrics } = context;
  const outbound = createOutbound({
    allow: allowListOf(config.outboundAllow),
    proxyFor: createProxyChoice(config.proxies),
  });
  const attempts = metrics.counter(
    'webhook_attempts_total',
    'Attempts to deliver a message to a webhook, by how they left the delivery.',
    ['state'],
  );
  const courier = new Courier({
    sql,
    log,
    clock,
    outbound,
    secrets: createSecretBox(config.secretKeys),
    onSettled: ({ state }) => attempts.inc({ state }),
    longestSleepMs: () => announced.longestSleepMs(),
  });
  const announced = onAnnounced(listener, WEBHOOKS_CHANNEL, () => courier.wake());
  const sink = runSink({ ...context, sink: createWebhookSink({ log, clock }) });
  const keeper = startDeliveryKeeper({ sql, log });
  const delivering = courier.run();
  return {
    async stop() {
      courier.stop();
      await Promise.all([sink.stop(), keeper.stop(), announced.stop(), delivering]);
      await outbound.close();
    },
  };
};
