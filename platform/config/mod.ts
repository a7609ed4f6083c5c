/**
 * Configuration: environment variables, read once, at start. Nothing else in the services looks at `process.env`.
 * docs/configuration.md has the table that operators read.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeError } from '#core/contracts/errors.ts';
import type { ProviderName } from '#core/contracts/provider.ts';
import { type OperatorModels, parseModelsFile } from '#core/models/mod.ts';
import { parseAllowList } from '../outbound/mod.ts';
import type { ProxySettings } from '../proxy/mod.ts';
import type { CertificateFiles } from '../tls/mod.ts';
import { type ProviderConfig, readProviders } from './providers.ts';
import { readProxies } from './proxies.ts';
import { type Environment, EnvironmentReader } from './read.ts';
import { readGateway, readTls } from './tls.ts';

export { PROVIDER_NAMES, type ProviderName } from '#core/contracts/provider.ts';
export type { ProviderConfig } from './providers.ts';
export type { Environment } from './read.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Config = {
  /** The address that gateway and API listen on. */
  host: string;
  gatewayPort: number;
  /** Processes that serve the gateway's port together, when the supervisor runs them. */
  gateways: number;
  /** Whether other gateways of this user, started by themselves, may serve the gateway's port as well. */
  sharePort: boolean;
  /** A bound socket that this process was given for the gateway, as a file descriptor; null: it takes host and port. */
  gatewaySocketFd: number | null;
  apiPort: number;
  /** The ports of gateway and API where the environment names them: a role by itself knows nothing of the other's. */
  knownPorts: { gateway: number | null; api: number | null };
  /** Health and metrics of ingest, on loopback; 0 takes a free port. */
  ingestPort: number;
  /** Health and metrics of the evaluators, on loopback; 0 takes a free port. */
  evaluatorsPort: number;
  /** What gateway and API show, on TLS; null: they serve without. */
  tls: CertificateFiles | null;
  /** Absolute path; the outbox and the embedded PostgreSQL live in it. */
  dataDir: string;
  /** null: the supervisor starts the embedded PostgreSQL. */
  databaseUrl: string | null;
  /** The servers of the broker, and a file with credentials for them; null: ingest reads the outboxes of its machine. */
  nats: { servers: string[]; credentialsFile: string | null } | null;
  bootstrapApiKey: string | null;
  logLevel: LogLevel;
  providers: Record<ProviderName, ProviderConfig>;
  /** What MODELS_FILE adds to the registry's models and prices; null: nothing. */
  models: OperatorModels | null;
  /** Records older than this are dropped, a week of them at a time; null keeps them for ever. */
  retentionDays: number | null;
  outbox: {
    maxBytes: number;
    /** `process`: an entry outlives the process (page cache); `disk`: it outlives a power cut (fsync). */
    sync: 'process' | 'disk';
  };
  providerTimeouts: { connectMs: number; firstByteMs: number; idleMs: number };
  /** Calls of one organization that may be under way to one provider, in one gateway. */
  providerConcurrencyPerOrganization: number;
  /** The largest request body that the gateway takes. */
  maxBodyBytes: number;
  /** Of stored answers that a gateway keeps in memory. */
  cacheMemoryBytes: number;
  /** For calls of providers, of judges and of EXTERNAL evaluators. */
  proxies: ProxySettings;
  /** 32 bytes each, for evaluators' secrets and provider keys: the first seals, each opens what it has sealed. */
  secretKeys: Buffer[];
  /** What EXTERNAL evaluators may call beside the public internet: hosts, addresses, CIDRs. See platform/outbound. */
  outboundAllow: string[];
  evaluators: {
    /** The gateway that judges are called through. */
    gatewayUrl: string;
    /** The certificate that it shows, which alone is trusted then, whatever its name; null: as authorities have it. */
    gatewayCertFile: string | null;
    /** Judge calls and calls of external services at a time, in one process. */
    remoteConcurrency: number;
    /** Python evaluations at a time, in one process. */
    pythonConcurrency: number;
    /** null: the system's, or the first on the path. */
    python: string | null;
  };
  /** How long each process may take to finish what it has begun. */
  shutdownMs: number;
  /** How much of that it goes on accepting connections, with `/readyz` at 503. */
  drainDelayMs: number;
};

export type ConfigResult = { ok: true; config: Config } | { ok: false; problems: string[] };

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
/** An entry holds a body and an answer of four times its size, and must fit an outbox frame (256 MiB). */
const BODY_BYTES = { min: 1_024, max: 48 * MIB };
const PORTS = { min: 0, max: 65_535 };
/** The first three are stdin, stdout and stderr. */
const GIVEN_FDS = { min: 3, max: 65_535 };
const TIMEOUTS_MS = { min: 1, max: 86_400_000 };
/**
 * A gateway opens 1,024 connections to a provider. Half of them for one organization, unless told: all would let one keep
 * every other from a provider, a few would make an organization wait that runs a gateway for itself alone.
 */
const PROVIDER_CONCURRENCY = { min: 1, max: 1_024 };
/** Long enough not to be guessed, short enough for one header. */
const BOOTSTRAP_KEY_LENGTH = { min: 20, max: 128 };

/** This process's environment: the one place that reads it. */
export function processEnvironment(): Environment {
  return process.env;
}

/**
 * Reads all variables, and reports all that are wrong together: by name, with the form expected. Secrets are never
 * quoted.
 */
export function readConfig(environment: Environment): ConfigResult {
  const reader = new EnvironmentReader(environment);
  const gatewayPort = reader.integer('GATEWAY_PORT', 8_787, PORTS);
  const tls = readTls(reader);
  const knownPort = (name: string) => Number(reader.text(name) ?? 0) || null;
  const config: Config = {
    host: reader.text('HOST') ?? '127.0.0.1',
    gatewayPort,
    gateways: reader.integer('GATEWAYS', 1, { min: 1, max: 64 }),
    sharePort: reader.choice('GATEWAY_SHARE_PORT', 'false', ['true', 'false']) === 'true',
    gatewaySocketFd: reader.integer('GATEWAY_SOCKET_FD', 0, GIVEN_FDS) || null,
    apiPort: reader.integer('API_PORT', 8_585, PORTS),
    knownPorts: { gateway: knownPort('GATEWAY_PORT'), api: knownPort('API_PORT') },
    ingestPort: reader.integer('INGEST_PORT', 0, PORTS),
    evaluatorsPort: reader.integer('EVALUATORS_PORT', 0, PORTS),
    tls,
    dataDir: resolve(reader.text('DATA_DIR') ?? '.data'),
    databaseUrl: reader.url(
      'DATABASE_URL',
      ['postgres:', 'postgresql:'],
      'postgres://user:password@host:5432/database',
    ),
    nats: readNats(reader),
    bootstrapApiKey: reader.secret('BOOTSTRAP_API_KEY', BOOTSTRAP_KEY_LENGTH),
    logLevel: reader.choice('LOG_LEVEL', 'info', LOG_LEVELS),
    providers: readProviders(reader),
    models: readModels(reader),
    retentionDays: reader.integer('RETENTION_DAYS', 0, { min: 0, max: 36_500 }) || null,
    outbox: {
      maxBytes: reader.integer('OUTBOX_MAX_BYTES', 8 * GIB, { min: MIB, max: 1_024 * GIB }),
      sync: reader.choice('OUTBOX_SYNC', 'process', ['process', 'disk']),
    },
    providerTimeouts: {
      connectMs: reader.integer('PROVIDER_CONNECT_TIMEOUT_MS', 10_000, TIMEOUTS_MS),
      firstByteMs: reader.integer('PROVIDER_FIRST_BYTE_TIMEOUT_MS', 600_000, TIMEOUTS_MS),
      idleMs: reader.integer('PROVIDER_IDLE_TIMEOUT_MS', 120_000, TIMEOUTS_MS),
    },
    providerConcurrencyPerOrganization: reader.integer(
      'PROVIDER_CONCURRENCY_PER_ORGANIZATION',
      512,
      PROVIDER_CONCURRENCY,
    ),
    maxBodyBytes: reader.integer('MAX_BODY_BYTES', 32 * MIB, BODY_BYTES),
    cacheMemoryBytes: reader.integer('CACHE_MEMORY_BYTES', 64 * MIB, { min: MIB, max: 64 * 1024 * MIB }),
    proxies: readProxies(reader),
    secretKeys: readSecretKeys(reader),
    outboundAllow: readOutboundAllow(reader),
    evaluators: {
      ...readGateway(reader, gatewayPort, tls),
      remoteConcurrency: reader.integer('EVALUATOR_CONCURRENCY', 32, { min: 1, max: 1_024 }),
      pythonConcurrency: reader.integer('PYTHON_CONCURRENCY', 4, { min: 1, max: 64 }),
      python: reader.text('PYTHON'),
    },
    shutdownMs: reader.integer('SHUTDOWN_TIMEOUT_MS', 10_000, TIMEOUTS_MS),
    drainDelayMs: reader.integer('DRAIN_DELAY_MS', 0, { ...TIMEOUTS_MS, min: 0 }),
  };
  if (config.gatewayPort !== 0 && config.gatewayPort === config.apiPort) {
    reader.problems.push(`API_PORT must differ from GATEWAY_PORT, but both are ${config.apiPort}`);
  }
  if (config.drainDelayMs >= config.shutdownMs) {
    reader.problems.push(
      `DRAIN_DELAY_MS must be less than SHUTDOWN_TIMEOUT_MS, which is ${config.shutdownMs}, but is ${config.drainDelayMs}`,
    );
  }
  return reader.problems.length === 0 ? { ok: true, config } : { ok: false, problems: reader.problems };
}

function readNats(reader: EnvironmentReader): Config['nats'] {
  const servers = reader.urls('NATS_URL', ['nats:', 'tls:'], 'nats://user:password@host:4222');
  const credentialsFile = reader.text('NATS_CREDS');
  if (servers.length === 0) {
    if (credentialsFile !== null) reader.problems.push('NATS_CREDS needs NATS_URL, which is not set');
    return null;
  }
  return { servers, credentialsFile: credentialsFile === null ? null : resolve(credentialsFile) };
}

function readModels(reader: EnvironmentReader): OperatorModels | null {
  const path = reader.text('MODELS_FILE');
  if (path === null) return null;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    reader.problems.push(`MODELS_FILE must be a file that can be read: ${describeError(error)}`);
    return null;
  }
  const read = parseModelsFile(text);
  if (read.ok) return read.value;
  reader.problems.push(...read.problems.map((problem) => `MODELS_FILE: ${problem}`));
  return null;
}

const SECRET_KEY_BYTES = 32;

function readSecretKeys(reader: EnvironmentReader): Buffer[] {
  const keys = reader
    .list('SECRET_KEY')
    .map((text) => (/^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64')));
  if (keys.every((key) => key.length === SECRET_KEY_BYTES)) return keys;
  reader.problems.push(
    `SECRET_KEY must be ${SECRET_KEY_BYTES} bytes as base64 or hex (openssl rand -base64 32), or more than one with commas between them`,
  );
  return [];
}

function readOutboundAllow(reader: EnvironmentReader): string[] {
  const entries = reader.list('OUTBOUND_ALLOW');
  const read = parseAllowList(entries);
  if ('allow' in read) return entries;
  reader.problems.push(
    `OUTBOUND_ALLOW must be addresses, CIDRs or host names with commas between them, but one is "${read.badEntry.slice(0, 80)}"`,
  );
  return [];
}
