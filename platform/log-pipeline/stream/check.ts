import { setTimeout as sleep } from 'node:timers/promises';
import { LOG_STREAM } from '#core/contracts/channels.ts';
import { type ConnectNatsOptions, connectOnce } from '../../nats/mod.ts';
import { declareLogStream, NoJetStreamError } from './log-stream.ts';

/** A server that has just started takes connections a moment before JetStream responds. */
const JETSTREAM_GRACE_MS = 2_000;
const RETRY_MS = 200;

const UNPROTECTED =
  'the NATS stream can be purged, and log entries are lost by it: set deny_purge and deny_delete with `nats stream edit`, or let the user of Assay update streams (docs/deployment.md)';

/**
 * Checks the servers once, when a role starts, so that the operator learns at once of a problem that waiting cannot solve.
 * A role starts also when no server can be reached: entries wait in the outbox.
 * @throws NatsRefusalError with a sentence: credentials refused, no JetStream, or a stream that would lose entries
 */
export async function checkNats(options: ConnectNatsOptions): Promise<void> {
  const connection = await connectOnce(options);
  if (connection === null) return;
  const deadline = performance.now() + JETSTREAM_GRACE_MS;
  try {
    for (;;) {
      try {
        const { isProtected } = await declareLogStream(connection);
        if (!isProtected) options.log.warn({ stream: LOG_STREAM }, UNPROTECTED);
        return;
      } catch (error) {
        if (!(error instanceof NoJetStreamError) || performance.now() > deadline) throw error;
        await sleep(RETRY_MS);
      }
    }
  } finally {
    await connection.close();
  }
}
