/** Connections to NATS: made once and kept for as long as the process lives, whatever happens to the servers. */
import { readFileSync } from 'node:fs';
import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../observability/log.ts';
import type { CertificateFiles } from '../tls/mod.ts';

export type { NatsConnection } from '@nats-io/transport-node';

export type NatsAddress = {
  /** The addresses of the servers. */
  servers: string[];
  /** The file of this account's credentials, or of its nkey's seed. */
  credentialsFile: string | null;
  /** For servers that ask for one. */
  clientCertificate?: CertificateFiles | null;
};

export type ConnectNatsOptions = {
  address: NatsAddress;
  /** The name of this connection in the servers' lists. */
  name: string;
  log: Logger;
};

/** A problem that waiting cannot solve. Its message is a sentence for the operator. */
export class NatsRefusalError extends Error {
  override readonly name = 'NatsRefusalError';
}

const FIRST_ATTEMPT_MS = 2_000;
const REQUEST_TIMEOUT_MS = 5_000;
const RECONNECT_WAIT_MS = 250;
const RECONNECT_JITTER_MS = 100;
/** A server that silently died is noticed within 15 s; by the client's default it takes six minutes. */
const PING_INTERVAL_MS = 5_000;
const MAX_PINGS_OUT = 2;

/** Returns the addresses for logs and messages: without user and password. */
export function publicAddresses(address: NatsAddress): string {
  return address.servers
    .map((server) => {
      const url = new URL(server);
      return `${url.protocol}//${url.host}`;
    })
    .join(', ');
}

type Library = typeof import('./library.ts');

const loadLibrary = (): Promise<Library> => import('./library.ts');

/** The seed of a user's nkey, which is in a file of its own where there are no JWTs. */
const SEED = /^SU[A-Z2-7]{56}$/;

function credentialsOf(
  { credsAuthenticator, nkeyAuthenticator }: Library,
  address: NatsAddress,
): Pick<NodeConnectionOptions, 'authenticator'> {
  const { credentialsFile } = address;
  if (credentialsFile === null) return {};
  const answerFrom = (credentials: Buffer, nonce?: string) => {
    const seed = credentials.toString('latin1').trim();
    return SEED.test(seed)
      ? nkeyAuthenticator(Buffer.from(seed))(nonce)
      : credsAuthenticator(credentials)(nonce);
  };
  try {
    let valid = readFileSync(credentialsFile);
    // The authenticator parses the file only when a server asks for it. A problem should be known before that.
    answerFrom(valid, 'nonce');
    return {
      // Reads the file for each connection: credentials end, and are renewed in it. One that is being written does not count.
      authenticator: (nonce) => {
        try {
          const renewed = readFileSync(credentialsFile);
          const answer = answerFrom(renewed, nonce);
          valid = renewed;
          return answer;
        } catch {
          return answerFrom(valid, nonce);
        }
      },
    };
  } catch (error) {
    throw new NatsRefusalError(`Cannot read NATS_CREDS ${credentialsFile}: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** Returns the account of `nats://user:password@host`, which the client takes apart from the servers. */
function accountOf(address: NatsAddress): Pick<NodeConnectionOptions, 'user' | 'pass' | 'token'> {
  const url = new URL(address.servers[0]!);
  if (url.username === '') return {};
  const user = decodeURIComponent(url.username);
  return url.password === '' ? { token: user } : { user, pass: decodeURIComponent(url.password) };
}

/** Returns what makes the client encrypt, or end when it cannot. It reads the files for each connection. */
function tlsOf({ servers, clientCertificate }: NatsAddress): Pick<NodeConnectionOptions, 'tls'> {
  if (clientCertificate) return { tls: { ...clientCertificate } };
  return servers.some((server) => server.startsWith('tls:')) ? { tls: {} } : {};
}

function optionsOf(library: Library, { address, name }: ConnectNatsOptions): NodeConnectionOptions {
  return {
    servers: address.servers.map((server) => new URL(server).host),
    ...tlsOf(address),
    ...accountOf(address),
    ...credentialsOf(library, address),
    name,
    timeout: REQUEST_TIMEOUT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: MAX_PINGS_OUT,
  };
}

/**
 * Connects, or returns null when no server can be reached now.
 * @throws NatsRefusalError when the servers refuse the credentials, or the credentials cannot be read
 */
export async function connectOnce(options: ConnectNatsOptions): Promise<NatsConnection | null> {
  const library = await loadLibrary();
  try {
    return await library.connect({
      ...optionsOf(library, options),
      timeout: FIRST_ATTEMPT_MS,
      reconnect: false,
    });
  } catch (error) {
    if (error instanceof NatsRefusalError) throw error;
    const servers = publicAddresses(options.address);
    if (isRefusal(library, error)) {
      throw new NatsRefusalError(`NATS at ${servers} refuses the credentials: ${describeError(error)}`, {
        cause: error,
      });
    }
    options.log.warn({ servers, error: describeError(error) }, 'cannot reach NATS; will keep trying');
    return null;
  }
}

function isRefusal({ AuthorizationError, UserAuthenticationExpiredError }: Library, error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return [error, cause].some(
    (one) => one instanceof AuthorizationError || one instanceof UserAuthenticationExpiredError,
  );
}

/**
 * Connects, and keeps trying for as long as it takes. The connection reconnects for ever; what is published while it is
 * lost is not kept, so callers have queues of their own.
 */
export async function connectNats(options: ConnectNatsOptions): Promise<NatsConnection> {
  const library = await loadLibrary();
  return await library.connect({
    ...optionsOf(library, options),
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
  });
}
