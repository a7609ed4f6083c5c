import { setTimeout as sleep } from 'node:timers/promises';
import { headers, type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import { LOG_STREAM, LOG_SUBJECT } from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import {
  type ConnectNatsOptions,
  connectOnce,
  type NatsAddress,
  NatsRefusalError,
  publicAddresses,
} from '../../nats/mod.ts';
import {
  CONSUMER_PREFIX,
  declareLogStream,
  jetStreamErrorCode,
  NO_ROOM_FOR_STREAM,
  NoJetStreamError,
} from './log-stream.ts';

/** A server that has just started takes connections a moment before JetStream responds. */
const JETSTREAM_GRACE_MS = 2_000;
const RETRY_MS = 200;
const RIGHT_TIMEOUT_MS = 2_000;

const UNPROTECTED =
  'the NATS stream can be purged, and log entries are lost by it: set deny_purge and deny_delete with `nats stream edit`, or let the user of Assay update streams (docs/deployment.md)';

/**
 * Checks the servers once, when a role starts, so that the operator learns at once of a problem that waiting cannot solve.
 * A role starts also when no server can be reached, or none answers, as while a cluster has no leader: entries wait in the outbox.
 * @throws NatsRefusalError with a sentence: credentials refused, no JetStream, too few rights, no room for the stream, or a stream
 *   that would lose entries
 */
export async function checkNats(
  options: ConnectNatsOptions & {
    /** Use that the role makes of the stream. */
    use: 'writes' | 'reads';
  },
): Promise<void> {
  const connection = await connectOnce(options);
  if (connection === null) return;
  const deadline = performance.now() + JETSTREAM_GRACE_MS;
  try {
    for (;;) {
      try {
        const { isProtected } = await declareLogStream(connection);
        if (!isProtected) options.log.warn({ stream: LOG_STREAM }, UNPROTECTED);
        await (options.use === 'writes' ? tryToWrite(connection) : tryToAcknowledge(connection));
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

/** Writes a message that the stream refuses to store. Without the right to, entries would never leave the outbox. */
async function tryToWrite(connection: NatsConnection): Promise<void> {
  const elsewhere = headers();
  elsewhere.set('Nats-Expected-Stream', `no ${LOG_STREAM}`);
  await tryRight(connection.request(LOG_SUBJECT, '', { timeout: RIGHT_TIMEOUT_MS, headers: elsewhere }));
}

/** Acknowledges a message of no consumer. Without the right to, the stream would never lose what is stored, and would fill up. */
async function tryToAcknowledge(connection: NatsConnection): Promise<void> {
  const subject = `$JS.ACK.${LOG_STREAM}.${CONSUMER_PREFIX}check.1.1.1.1.0`;
  await tryRight(connection.request(subject, '', { timeout: RIGHT_TIMEOUT_MS }));
}

/** @throws the error of a request that the user has no right to make; no other */
async function tryRight(request: Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    if (isPermission(error)) throw error;
  });
}

/** The client wraps it where it ends a request. */
function isPermission(error: unknown): boolean {
  return [error, (error as Error).cause].some((one) => one instanceof PermissionViolationError);
}

/** Returns an error that waiting does not solve, with its sentence; null: this one may pass. */
function refusalOf(error: unknown, address: NatsAddress): NatsRefusalError | null {
  if (error instanceof NatsRefusalError) return error;
  const servers = publicAddresses(address);
  const why = `${describeError(error)}; docs/deployment.md says what it needs`;
  if (isPermission(error))
    return new NatsRefusalError(`NATS at ${servers} gives this user too few rights: ${why}`, {
      cause: error,
    });
  if (NO_ROOM_FOR_STREAM.includes(jetStreamErrorCode(error) ?? 0))
    return new NatsRefusalError(`NATS at ${servers} has no room for the stream ${LOG_STREAM}: ${why}`, {
      cause: error,
    });
  return null;
}
