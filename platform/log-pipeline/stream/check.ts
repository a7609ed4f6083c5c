import { setTimeout as sleep } from 'node:timers/promises';
import { PermissionViolationError } from '@nats-io/transport-node';
import { LOG_STREAM } from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import {
  type ConnectNatsOptions,
  connectOnce,
  type NatsAddress,
  NatsRefusalError,
  publicAddresses,
} from '../../nats/mod.ts';
import { declareLogStream, jetStreamErrorCode, NO_ROOM_FOR_STREAM, NoJetStreamError } from './log-stream.ts';

/** A server that has just started takes connections a moment before JetStream responds. */
const JETSTREAM_GRACE_MS = 2_000;
const RETRY_MS = 200;

const UNPROTECTED =
  'the NATS stream can be purged, and log entries are lost by it: set deny_purge and deny_delete with `nats stream edit`, or let the user of Assay update streams (docs/deployment.md)';

/**
 * Checks the servers once, when a role starts, so that the operator learns at once of a problem that waiting cannot solve.
 * A role starts also when no server can be reached, or none answers, as while a cluster has no leader: entries wait in the outbox.
 * @throws NatsRefusalError with a sentence: credentials refused, no JetStream, too few rights, no room for the stream, or a stream
 *   that would lose entries
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
        if (!(error instanceof NoJetStreamError) || performance.now() > deadline) {
          const refusal = refusalOf(error, options.address);
          if (refusal !== null) throw refusal;
          const servers = publicAddresses(options.address);
          options.log.warn(
            { servers, error: describeError(error) },
            'NATS does not answer; will keep trying',
          );
          return;
        }
        await sleep(RETRY_MS);
      }
    }
  } finally {
    await connection.close();
  }
}

/** Returns an error that waiting does not solve, with its sentence; null: this one may pass. */
function refusalOf(error: unknown, address: NatsAddress): NatsRefusalError | null {
  if (error instanceof NatsRefusalError) return error;
  const servers = publicAddresses(address);
  const why = `${describeError(error)}; docs/deployment.md says what it needs`;
  // The client wraps it where it ends a request.
  const isPermission = [error, (error as Error).cause].some((one) => one instanceof PermissionViolationError);
  if (isPermission)
    return new NatsRefusalError(`NATS at ${servers} gives this user too few rights: ${why}`, {
      cause: error,
    });
  if (NO_ROOM_FOR_STREAM.includes(jetStreamErrorCode(error) ?? 0))
    return new NatsRefusalError(`NATS at ${servers} has no room for the stream ${LOG_STREAM}: ${why}`, {
      cause: error,
    });
  return null;
}
