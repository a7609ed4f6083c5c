import { KEY_CHANGES_SUBJECT } from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import { announceChange, type NatsAddress } from '#platform/nats/mod.ts';
import type { Logger } from '#platform/observability/log.ts';

/**
 * Makes the function that announces a change over NATS, for gateways that Postgres's notifications do not reach. These see
 * a change within 30 seconds even without an announcement, so that a failure does not concern the caller.
 * @param nats null: there is no broker
 */
export function createAnnouncer({
  nats,
  log,
}: {
  nats: NatsAddress | null;
  log: Logger;
}): () => Promise<void> {
  return async () => {
    if (nats === null) return;
    try {
      await announceChange({ subject: KEY_CHANGES_SUBJECT, address: nats, name: 'assay-api-keys', log });
    } catch (error) {
      log.warn({ error: describeError(error) }, 'A change of keys was not announced over NATS');
    }
  };
}
