/**
 * The address of a PostgreSQL as libpq writes it, so that what a provider of databases shows can be used as it is. A door of its
 * own: the configuration checks the address without loading the driver. postgres.js reads addresses too, but knows no root or
 * client certificates, no IPv6, no Unix sockets and no encoded names of databases, and checks no certificate against an IP address.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls';
import { describeError } from '#core/contracts/errors.ts';

/** An address in options of postgres.js; what is undefined has the driver's default. */
export type DatabaseAddress = {
  host: string[] | undefined;
  port: number[] | undefined;
  /** A Unix socket, in place of host and port. */
  path: string | undefined;
  user: string | undefined;
  password: string | undefined;
  database: string | undefined;
  /** `prefer`: TLS where the server has it, without any check of its certificate. */
  ssl: false | 'prefer' | ConnectionOptions;
  /** Settings of the server for the session. */
  settings: Record<string, string>;
};

export type AddressReading = { value: DatabaseAddress } | { problem: string };

/** The form of an address, in error sentences. */
const ADDRESS_FORM =
  'an address like postgres://user:password@host:5432/database, with special characters of the password encoded, as %40 for @';
const ONE_HOST = 'must name one host: use a name or a proxy that leads to the primary of several';

const FORM =
  /^postgres(?:ql)?:\/\/(?:(?<account>[^/?#]*)@)?(?<server>[^/?#@]*)(?:\/(?<database>[^?#]*))?(?:\?(?<query>[^#]*))?$/;
const SERVER = /^(?:\[(?<address>[\da-f:.]+)\]|(?<name>[^:[\]]*))(?::(?<port>\d{1,5}))?$/i;
const DEFAULT_PORT = 5_432;
const MAX_PORT = 65_535;

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];
/** The forms of `ssl`, which other drivers take. */
const SSL_WORDS: Readonly<Record<string, SslMode>> = { true: 'verify-full', false: 'disable' };

/** Parameters that Assay sets by itself, or that ask for what it does anyway. */
const WITHOUT_EFFECT = new Set([
  'application_name',
  'fallback_application_name',
  'client_encoding',
  'connect_timeout',
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
  'tcp_user_timeout',
  'sslcompression',
  'sslsni',
]);
/** Parameters of which these values alone ask for what Assay does anyway. */
const ONLY_VALUES: Readonly<Record<string, readonly string[]>> = {
  channel_binding: ['disable', 'prefer'],
  gssencmode: ['disable', 'prefer'],
  sslnegotiation: ['postgres'],
  target_session_attrs: ['any', 'read-write', 'primary'],
};
/** Parameters of libpq that Assay does not know. All others are the server's settings. */
const UNKNOWN = new Set([
  'hostaddr',
  'passfile',
  'service',
  'servicefile',
  'require_auth',
  'requirepeer',
  'requiressl',
  'krbsrvname',
  'gsslib',
  'gssdelegation',
  'load_balance_hosts',
  'replication',
  'sslcertmode',
  'sslcrl',
  'sslcrldir',
  'ssl_min_protocol_version',
  'ssl_max_protocol_version',
]);

/** Thrown with the rest of a sentence that begins with the variable's name. */
class Unusable extends Error {}

/** Reads an address, and the files that it names. A problem is the rest of a sentence, without passwords. */
export function readDatabaseAddress(text: string): AddressReading {
  try {
    return { value: read(text) };
  } catch (error) {
    if (error instanceof Unusable) return { problem: error.message };
    throw error;
  }
}

/** Returns the server of an address for messages. */
export function serverOf(address: { path?: string | false; host: string[]; port: number[] }): string {
  if (typeof address.path === 'string') return address.path;
  const nameOf = (host: string) => (isIP(host) === 6 ? `[${host}]` : host);
  return address.host.map((host, index) => `${nameOf(host)}:${address.port[index]}`).join(', ');
}

function read(text: string): DatabaseAddress {
  const parts = FORM.exec(text)?.groups;
  if (parts === undefined) throw new Unusable(`must be ${ADDRESS_FORM}`);
  const { account = '', server = '', database = '', query = '' } = parts;
  const parameters = new URLSearchParams(query);
  const take = (name: string): string | undefined => {
    const value = parameters.get(name);
    parameters.delete(name);
    return value === null || value === '' ? undefined : value;
  };
  const given = serverFrom(server);
  const host = take('host') ?? given.host;
  const port = portFrom(take('port') ?? given.port);
  if (host.includes(',')) throw new Unusable(ONE_HOST);
  const isSocket = host.startsWith('/');
  const mode = modeFrom(take('sslmode'), take('ssl'));
  const files = { ca: take('sslrootcert'), cert: take('sslcert'), key: take('sslkey') };
  const ssl = tlsOf({ mode, ...files, passphrase: take('sslpassword'), host });
  const [user = '', ...password] = account.split(':');
  return {
    host: host === '' ? undefined : [host],
    port: host === '' ? undefined : [port],
    path: isSocket ? `${host}/.s.PGSQL.${port}` : undefined,
    user: take('user') ?? decoded(user),
    password: take('password') ?? decoded(password.join(':')),
    database: take('dbname') ?? decoded(database.replace(/\/+$/, '')),
    // As in libpq: a Unix socket is never encrypted.
    ssl: isSocket ? false : ssl,
    settings: settingsFrom(parameters),
  };
}

function decoded(text: string): string | undefined {
  if (text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Unusable(`must be ${ADDRESS_FORM}`);
  }
}

function serverFrom(text: string): { host: string; port: string } {
  const name = decoded(text) ?? '';
  if (name.includes(',')) throw new Unusable(ONE_HOST);
  const parts = SERVER.exec(name)?.groups;
  if (parts === undefined) throw new Unusable(`must be ${ADDRESS_FORM}`);
  return { host: parts.address ?? parts.name ?? '', port: parts.port ?? '' };
}

function portFrom(text: string): number {
  if (text === '') return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > MAX_PORT) throw new Unusable(`must have a port from 1 to ${MAX_PORT}`);
  return port;
}

function modeFrom(sslmode: string | undefined, ssl: string | undefined): SslMode | undefined {
  const word = sslmode ?? SSL_WORDS[ssl ?? ''] ?? ssl;
  if (word === undefined) return undefined;
  const mode = SSL_MODES.find((one) => one === word);
  if (mode === undefined) throw new Unusable(`must have as sslmode one of ${SSL_MODES.join(', ')}`);
  return mode;
}

type TlsParameters = {
  mode: SslMode | undefined;
  ca: string | undefined;
  cert: string | undefined;
  key: string | undefined;
  passphrase: string | undefined;
  host: string;
};

function tlsOf({ mode, ca, cert, key, passphrase, host }: TlsParameters): DatabaseAddress['ssl'] {
  // As in libpq: with a root certificate, `require` checks what it has signed.
  const checks = mode === 'require' && ca !== undefined && ca !== 'system' ? 'verify-ca' : mode;
  const isChecked = checks === 'verify-ca' || checks === 'verify-full';
  if (ca !== undefined && !isChecked) throw new Unusable('has sslrootcert, which needs sslmode=verify-full');
  if (cert === undefined && key !== undefined) throw new Unusable('has sslkey, which needs sslcert');
  if (cert !== undefined && !isChecked && checks !== 'require')
    throw new Unusable('has sslcert, which needs sslmode=require or sslmode=verify-full');
  if (checks === undefined || checks === 'disable') return false;
  if (checks === 'allow' || checks === 'prefer') return 'prefer';
  const files = {
    ...(ca !== undefined && ca !== 'system' && { ca: certificatesOf('sslrootcert', ca) }),
    ...(cert !== undefined && { cert: certificatesOf('sslcert', cert), key: readKey(key ?? cert) }),
    ...(passphrase !== undefined && { passphrase }),
  };
  return {
    secureContext: contextOf(files),
    rejectUnauthorized: isChecked,
    // Node would check an address without a name against `localhost`.
    checkServerIdentity: (_, certificate) =>
      checks === 'verify-full' ? checkServerIdentity(host, certificate) : undefined,
  };
}

function certificatesOf(parameter: string, path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    // The secure context takes a file without any certificate for an empty list.
    return new X509Certificate(text) && text;
  } catch (error) {
    throw new Unusable(`has as ${parameter} no file with certificates as PEM: ${describeError(error)}`);
  }
}

function readKey(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Unusable(`has as sslkey no file that can be read: ${describeError(error)}`);
  }
}

function contextOf(files: SecureContextOptions): SecureContext {
  try {
    return createSecureContext(files);
  } catch (error) {
    throw new Unusable(`has an sslkey that cannot be used with its sslcert: ${describeError(error)}`);
  }
}

function settingsFrom(parameters: URLSearchParams): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [name, value] of parameters) {
    const allowed = ONLY_VALUES[name];
    if (UNKNOWN.has(name) || (allowed !== undefined && !allowed.includes(value)))
      throw new Unusable(
        `has the parameter ${name}, which Assay does not support with this value: leave it out`,
      );
    if (allowed === undefined && !WITHOUT_EFFECT.has(name)) settings[name] = value;
  }
  return settings;
}
