/**
 * Configuration: environment variables, read once at start. No other folder reads the environment. docs/configuration.md
 * has the table for operators, which `npm run docs:configuration` writes from the same schema.
 */
import { resolve } from 'node:path';
import type { StaticDecode } from '@sinclair/typebox';
import type { ProviderName } from '#core/contracts/provider.ts';
import type { OperatorModels } from '#core/models/mod.ts';
import { NO_PROXIES, type ProxySettings } from '../proxy/mod.ts';
import type { CertificateFiles } from '../tls/mod.ts';
import { checkGatewayCertificate, readModels, readTls } from './files.ts';
import { type ProviderConfig, readProviders } from './providers.ts';
import { type Environment, readEnvironment } from './read-environment.ts';
import { type LOG_LEVELS, VARIABLES } from './variables.ts';

export { PROVIDER_NAMES, type ProviderName } from '#core/contracts/provider.ts';
export { type DocumentedVariable, documentedVariables } from './documented.ts';
export type { ProviderConfig } from './providers.ts';
export type { Environment } from './read-environment.ts';

export type LogLevel = (typeof LOG_LEVELS)[number];

export type Config = {
  /** The address that the gateway and the API listen on. */
  host: string;
  gatewayPort: number;
  /** Processes that serve the gateway's port together, when the supervisor runs them. */
  gateways: number;
  /** True when other gateways of this user, started separately, may serve the gateway's port too. */
  sharePort: boolean;
  /** The descriptors of a bound socket that this process was given for the gateway; none: host and port are used. */
  gatewaySocketFds: readonly number[];
  /** Origins of the pages that may call the gateway, as browsers write them. */
  allowedOrigins: readonly string[];
  apiPort: number;
  /** Whether the API serves the dashboard. */
  hasDashboard: boolean;
  /** The dashboard's origin in browsers, in lower case and without a default port; null: loopback alone. */
  publicUrl: string | null;
  /** The ports of the gateway and the API where the environment names them: a role does not know the other's by itself. */
  knownPorts: { gateway: number | null; api: number | null };
  /** Health and metrics of ingest, on loopback; 0 takes a free port. */
  ingestPort: number;
  /** Health and metrics of the evaluators, on loopback; 0 takes a free port. */
  evaluatorsPort: number;
  /** The certificate of the gateway and the API; null: they serve without TLS. */
  tls: CertificateFiles | null;
  /** Absolute path; the outbox and the embedded PostgreSQL live in it. */
  dataDir: string;
  /** null: the supervisor starts the embedded PostgreSQL. */
  databaseUrl: string | null;
  /** The servers of the broker, with a file of credentials and a client certificate for them; null: ingest reads the outboxes of its machine. */
  nats: {
    servers: string[];
    credentialsFile: string | null;
    clientCertificate: CertificateFiles | null;
  } | null;
  bootstrapApiKey: string | null;
  /** The key that commands call the API with. */
  apiKey: string | null;
  logLevel: LogLevel;
  providers: Record<ProviderName, ProviderConfig>;
  /** The models and prices that MODELS_FILE adds to the registry; null: none. */
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
  /** Large request bodies that a gateway holds in memory; null: by the memory of the process. */
  bodiesMemoryBytes: number | null;
  /** Stored responses that a gateway keeps in memory. */
  cacheMemoryBytes: number;
  /** For calls of providers, of judges and of EXTERNAL evaluators. */
  proxies: ProxySettings;
  /** 32 bytes each, for the secrets of evaluators and for provider keys: the first seals, each opens what it has sealed. */
  secretKeys: Buffer[];
  /** Hosts, addresses and CIDRs that EXTERNAL evaluators may call beside the public internet. See platform/outbound. */
  outboundAllow: string[];
  /** The gateway that the other roles call: evaluators for judges, the API for the playground. */
  gateway: {
    url: string;
    /** The one certificate that is trusted then, whatever its name; null: what the system's authorities signed. */
    certFile: string | null;
  };
  evaluators: {
    /** Calls of judges and external services at a time, in one process, beside a quarter for organizations that have none. */
    remoteConcurrency: number;
    /** Python evaluations at a time, in one process. */
    pythonConcurrency: number;
    /** null: the system's, or the first on the path. */
    python: string | null;
  };
  /** Longest time in which a process finishes the work it has begun. */
  shutdownMs: number;
  /** The part of that time in which it still accepts connections, with `/readyz` at 503. */
  drainDelayMs: number;
};

export type ConfigResult = { ok: true; config: Config } | { ok: false; problems: string[] };

/** Returns this process's environment. */
export function processEnvironment(): Environment {
  return process.env;
}

type Values = StaticDecode<typeof VARIABLES>;

/**
 * Reads all variables and reports everything that is wrong together: which variable, which rule, and what it is. Secrets
 * are never quoted.
 */
export function readConfig(environment: Environment): ConfigResult {
  const { values, problems, set } = readEnvironment(VARIABLES, environment);
  const fromProviders = readProviders(environment);
  problems.push(...fromProviders.problems, ...brokenPairs(values));
  const knownPort = (name: 'GATEWAY_PORT' | 'API_PORT') => (set.has(name) ? values[name] || null : null);
  const certificate = { certFile: values.TLS_CERT_FILE, keyFile: values.TLS_KEY_FILE };
  const tls = readTls('TLS', certificate, problems);
  const config: Config = {
    host: values.HOST,
    gatewayPort: values.GATEWAY_PORT,
    gateways: values.GATEWAYS,
    sharePort: values.GATEWAY_SHARE_PORT === 'true',
    gatewaySocketFds: socketFdsOf(values),
    allowedOrigins: values.GATEWAY_ALLOWED_ORIGINS ?? [],
    apiPort: values.API_PORT,
    hasDashboard: values.API_DASHBOARD === 'true',
    publicUrl: values.PUBLIC_URL ?? null,
    knownPorts: { gateway: knownPort('GATEWAY_PORT'), api: knownPort('API_PORT') },
    ingestPort: values.INGEST_PORT,
    evaluatorsPort: values.EVALUATORS_PORT,
    tls,
    dataDir: resolve(values.DATA_DIR),
    databaseUrl: values.DATABASE_URL ?? null,
    nats: natsOf(values, problems),
    bootstrapApiKey: values.BOOTSTRAP_API_KEY ?? null,
    apiKey: values.ASSAY_API_KEY ?? values.BOOTSTRAP_API_KEY ?? null,
    logLevel: values.LOG_LEVEL,
    providers: fromProviders.providers,
    models: readModels(values.MODELS_FILE, problems),
    retentionDays: values.RETENTION_DAYS || null,
    outbox: { maxBytes: values.OUTBOX_MAX_BYTES, sync: values.OUTBOX_SYNC },
    providerTimeouts: {
      connectMs: values.PROVIDER_CONNECT_TIMEOUT_MS,
      firstByteMs: values.PROVIDER_FIRST_BYTE_TIMEOUT_MS,
      idleMs: values.PROVIDER_IDLE_TIMEOUT_MS,
    },
    providerConcurrencyPerOrganization: values.PROVIDER_CONCURRENCY_PER_ORGANIZATION,
    maxBodyBytes: values.MAX_BODY_BYTES,
    bodiesMemoryBytes: values.BODIES_MEMORY_BYTES ?? null,
    cacheMemoryBytes: values.CACHE_MEMORY_BYTES,
    proxies: {
      https: values.HTTPS_PROXY ?? null,
      http: values.HTTP_PROXY ?? null,
      noProxy: values.NO_PROXY ?? NO_PROXIES.noProxy,
    },
    secretKeys: values.SECRET_KEY ?? [],
    outboundAllow: values.OUTBOUND_ALLOW ?? [],
    gateway: gatewayOf(values, tls),
    evaluators: evaluatorsOf(values),
    shutdownMs: values.SHUTDOWN_TIMEOUT_MS,
    drainDelayMs: values.DRAIN_DELAY_MS,
  };
  checkGatewayCertificate(values.GATEWAY_CERT_FILE, problems);
  return problems.length === 0 ? { ok: true, config } : { ok: false, problems };
}

/** Returns a sentence for each rule about two variables that is broken. */
function brokenPairs(values: Values): string[] {
  const { GATEWAY_PORT, API_PORT, DRAIN_DELAY_MS, SHUTDOWN_TIMEOUT_MS, NATS_URL } = values;
  const problems: string[] = [];
  if (GATEWAY_PORT !== 0 && GATEWAY_PORT === API_PORT) {
    problems.push(`API_PORT must differ from GATEWAY_PORT, but both are ${API_PORT}`);
  }
  if (DRAIN_DELAY_MS >= SHUTDOWN_TIMEOUT_MS) {
    problems.push(
      `DRAIN_DELAY_MS must be less than SHUTDOWN_TIMEOUT_MS, which is ${SHUTDOWN_TIMEOUT_MS}, but is ${DRAIN_DELAY_MS}`,
    );
  }
  for (const name of ['NATS_CREDS', 'NATS_CERT_FILE'] as const) {
    if (values[name] !== undefined && NATS_URL === undefined) {
      problems.push(`${name} needs NATS_URL, which is not set`);
    }
  }
  return problems;
}

function socketFdsOf({ GATEWAY_SOCKET_FD: first, GATEWAY_SOCKET_FDS: count }: Values): number[] {
  return first === undefined ? [] : Array.from({ length: count }, (_, place) => first + place);
}

function natsOf(values: Values, problems: string[]): Config['nats'] {
  const { NATS_URL, NATS_CREDS, NATS_CERT_FILE, NATS_KEY_FILE } = values;
  const certificate = { certFile: NATS_CERT_FILE, keyFile: NATS_KEY_FILE };
  const clientCertificate = readTls('NATS', certificate, problems);
  if (NATS_URL === undefined) return null;
  const credentialsFile = NATS_CREDS === undefined ? null : resolve(NATS_CREDS);
  return { servers: NATS_URL, credentialsFile, clientCertificate };
}

/** A gateway of this environment, which is called where no other is named, shows the certificate of this environment. */
function gatewayOf(values: Values, tls: CertificateFiles | null): Config['gateway'] {
  const { GATEWAY_URL, GATEWAY_CERT_FILE, GATEWAY_PORT } = values;
  const ownCertFile = GATEWAY_URL === undefined ? (tls?.certFile ?? null) : null;
  return {
    url: GATEWAY_URL ?? `${tls === null ? 'http' : 'https'}://127.0.0.1:${GATEWAY_PORT}`,
    certFile: GATEWAY_CERT_FILE === undefined ? ownCertFile : resolve(GATEWAY_CERT_FILE),
  };
}

function evaluatorsOf(values: Values): Config['evaluators'] {
  return {
    remoteConcurrency: values.EVALUATOR_CONCURRENCY,
    pythonConcurrency: values.PYTHON_CONCURRENCY,
    python: values.PYTHON ?? null,
  };
}
