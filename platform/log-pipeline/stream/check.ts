import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectNatsOptions, connectOnce } from '../../nats/mod.ts';
import { declareLogStream, NoJetStreamError } from './log-stream.ts';

/** A server that has just started takes connections a moment before JetStream responds. */
const JETSTREAM_GRACE_MS = 2_000;
const RETRY_MS = 200;

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
        await declareLogStream(connection);
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
