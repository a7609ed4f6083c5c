/** Connections to NATS: made once, kept for as long as the process lives, whatever becomes of the servers. */
import { readFileSync } from 'node:fs';
import {
  AuthorizationError,
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
  UserAuthenticationExpiredError,
} from '@nats-io/transport-node';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../observability/log.ts';

export type { NatsConnection } from '@nats-io/transport-node';

/** Where the servers are, and who we are to them. */
export type NatsAddress = { servers: string[]; credentialsFile: string | null };

export type ConnectNatsOptions = {
  address: NatsAddress;
  /** What the servers list this connection as. */
  name: string;
  log: Logger;
};

/** A configuration that waiting cannot mend. Its message is a sentence for the operator. */
export class NatsRefusalError extends Error {
  override readonly name = 'NatsRefusalError';
}

const FIRST_TRY_MS = 2_000;
const REQUEST_TIMEOUT_MS = 5_000;
const RECONNECT_WAIT_MS = 250;
const RECONNECT_JITTER_MS = 100;
/** A peer that is dead without a word is noticed within 15 s; by default it takes the client six minutes. */
const PING_INTERVAL_MS = 5_000;
const MAX_PINGS_OUT = 2;

/** Addresses for logs and messages: without what may be a password. */
export function publicAddresses(address: NatsAddress): string {
  return address.servers
    .map((server) => {
      const url = new URL(server);
      return `${url.protocol}//${url.host}`;
    })
    .join(', ');
}

function credentialsOf(address: NatsAddress): Pick<NodeConnectionOptions, 'authenticator'> {
  if (address.credentialsFile === null) return {};
  try {
    const authenticator = credsAuthenticator(readFileSync(address.credentialsFile));
    // It looks into the file only when a server asks; what is wrong with the file should be known before that.
    authenticator('nonce');
    return { authenticator };
  } catch (error) {
    throw new NatsRefusalError(`Cannot read NATS_CREDS ${address.credentialsFile}: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** `nats://user:password@host` as the client wants it: the servers without, the account apart. */
function accountOf(address: NatsAddress): Pick<NodeConnectionOptions, 'user' | 'pass' | 'token'> {
  const url = new URL(address.servers[0]!);
  if (url.username === '') return {};
  const user = decodeURIComponent(url.username);
  return url.password === '' ? { token: user } : { user, pass: decodeURIComponent(url.password) };
}

function optionsOf({ address, name }: ConnectNatsOptions): NodeConnectionOptions {
  return {
    servers: address.servers.map((server) => new URL(server).host),
    ...(address.servers.some((server) => server.startsWith('tls:')) && { tls: {} }),
    ...accountOf(address),
    ...credentialsOf(address),
    name,
    timeout: REQUEST_TIMEOUT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: MAX_PINGS_OUT,
  };
}

/**
 * Tries the servers once, for what should be told at a start. Null when none can be reached now.
 * @throws NatsRefusalError when they refuse who we are, or the credentials cannot be read
 */
export async function connectOnce(options: ConnectNatsOptions): Promise<NatsConnection | null> {
  try {
    return await connect({ ...optionsOf(options), timeout: FIRST_TRY_MS, reconnect: false });
  } catch (error) {
    if (error instanceof NatsRefusalError) throw error;
    const servers = publicAddresses(options.address);
    if (isRefusal(error)) {
      throw new NatsRefusalError(`NATS at ${servers} refuses the credentials: ${describeError(error)}`, {
        cause: error,
      });
    }
    options.log.warn({ servers, error: describeError(error) }, 'NATS cannot be reached; will go on trying');
    return null;
  }
}

function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return [error, cause].some(
    (one) => one instanceof AuthorizationError || one instanceof UserAuthenticationExpiredError,
  );
}

/**
 * Connects, and goes on trying for as long as it takes: `connection` resolves when a server answers. Once made it
 * reconnects for ever; nothing that is published while it is away is kept, so callers own their queues.
 */
export function connectNats(options: ConnectNatsOptions): Promise<NatsConnection> {
  return connect({
    ...optionsOf(options),
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
  });
}
