import type {
  BROWSER_SESSION_CHANGES_SUBJECT,
  ERASURES_SUBJECT,
  KEY_CHANGES_SUBJECT,
  PROMPT_CHANGES_SUBJECT,
} from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import { announceChange, type NatsAddress } from '#platform/nats/mod.ts';
import type { Logger } from '#platform/observability/log.ts';

/** The subjects that announce changes of data that other processes keep in memory. */
type Subject =
  | typeof BROWSER_SESSION_CHANGES_SUBJECT
  | typeof ERASURES_SUBJECT
  | typeof KEY_CHANGES_SUBJECT
  | typeof PROMPT_CHANGES_SUBJECT;

/**
 * Makes the function that announces a change over NATS, for processes that Postgres's notifications do not reach. These see
 * a change within a minute even without an announcement, so that a failure does not concern the caller.
 * @param nats null: there is no broker
 */
export function createAnnouncer(
  subject: Subject,
  { nats, log }: { nats: NatsAddress | null; log: Logger },
): () => Promise<void> {
  return async () => {
    if (nats === null) return;
    try {
      await announceChange({ subject, address: nats, name: 'assay-api-changes', log });
    } catch (error) {
      log.warn({ subject, error: describeError(error) }, 'A change was not announced over NATS');
    }
  };
}
