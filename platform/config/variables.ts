/**
 * The variables of the environment, the keys and addresses of providers apart: the one schema that the reader, its error
 * sentences and docs/configuration.md come from.
 */
import { Type } from '@sinclair/typebox';
import { NETWORK_VARIABLES } from './network.ts';
import { address, allowList, databaseAddress, proxy, proxyBypass, secretKeys, servers } from './texts.ts';
import { choice, integer, optionalInteger, optionalText, PROCESSES, secret, text } from './variable.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const MAX_MS = 86_400_000;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export const VARIABLES = Type.Object({
  ...NETWORK_VARIABLES,

  DATA_DIR: text('a directory', {
    default: '.data',
    group: 'Storage',
    roles: PROCESSES,
    description:
      'Holds the outboxes, the embedded PostgreSQL, the compiled code of the roles, the private socket of the sandbox, and the key that `npm start` makes where `SECRET_KEY` is missing.',
  }),
  DATABASE_URL: databaseAddress({
    isSecret: true,
    defaultText: 'the embedded PostgreSQL',
    group: 'Storage',
    roles: PROCESSES,
    description:
      'A PostgreSQL of your own (15 or newer; tested: 18), with TLS where `sslmode` is given ([more](deployment.md#the-address-of-postgresql)). A role that is started by itself needs it.',
  }),
  NATS_URL: servers(['nats:', 'tls:'], 'nats://user:password@host:4222', {
    isSecret: true,
    group: 'Storage',
    roles: PROCESSES,
    description: 'NATS servers with JetStream. Without them ingest reads the outboxes of its own machine.',
  }),
  NATS_CREDS: optionalText('a file', {
    group: 'Storage',
    roles: PROCESSES,
    description:
      'A credentials file for `NATS_URL`, or a file with the seed of an nkey. It is read again for each connection, so it can be renewed while Assay runs.',
  }),
  NATS_CERT_FILE: optionalText('a PEM file', {
    group: 'Storage',
    roles: PROCESSES,
    description:
      'The client certificate for servers of `NATS_URL` that ask for one. It needs `NATS_KEY_FILE`; both files are read again for each connection, which is made with TLS.',
  }),
  NATS_KEY_FILE: optionalText('a PEM file', {
    group: 'Storage',
    roles: PROCESSES,
    description: 'The private key of `NATS_CERT_FILE`, without a passphrase.',
  }),
  RETENTION_DAYS: integer(0, 36_500, {
    default: 0,
    unit: 'days',
    group: 'Storage',
    roles: ['gateway', 'api', 'ingest'],
    description:
      'Records older than this are dropped, a week of them at a time, and no response stays longer in the cache; 0 keeps them for ever ([what goes, and what stays](deployment.md#how-long-data-is-kept)).',
  }),
  OUTBOX_MAX_BYTES: integer(MIB, 1_024 * GIB, {
    default: 8 * GIB,
    unit: 'bytes',
    group: 'Storage',
    roles: ['gateway', 'api'],
    description: 'The bound of an outbox. Calls beyond it are served and counted, but not logged.',
  }),
  OUTBOX_SYNC: choice(['process', 'disk'], {
    default: 'process',
    group: 'Storage',
    roles: ['gateway', 'api'],
    description:
      '`process`: a log entry survives the death of any process (page cache); `disk`: a power cut too (fsync).',
  }),

  SECRET_KEY: secretKeys({
    isSecret: true,
    group: 'Keys and secrets',
    roles: ['gateway', 'api', 'ingest', 'evaluators'],
    description:
      'Seals the secrets of evaluators and of [webhooks](guides/webhooks.md), and [provider keys](guides/provider-keys.md); the same for all processes. The first key seals, and each key opens what it has sealed. Without it `npm start` makes a key and keeps it in `secret.key` in `DATA_DIR`; a role that is started by itself refuses evaluators with secrets, webhooks and provider keys.',
  }),
  // Long enough not to be guessed, short enough for one header.
  BOOTSTRAP_API_KEY: secret(20, 128, {
    isSecret: true,
    group: 'Keys and secrets',
    roles: ['supervisor'],
    description: 'Fixes the first API key. Without it one is made and printed once.',
  }),
  ASSAY_API_KEY: secret(1, 4_096, {
    isSecret: true,
    group: 'Keys and secrets',
    roles: ['supervisor'],
    description:
      'The key that `npm start -- export`, `judgments import` and `experiments gate` call the API with: one with the scope `read`, for the last two also `write`. Without it, `export` and `judgments` take `BOOTSTRAP_API_KEY`.',
  }),

  // An entry holds a body and a response of four times its size, and must fit an outbox frame (256 MiB).
  MAX_BODY_BYTES: integer(1_024, 48 * MIB, {
    default: 32 * MIB,
    unit: 'bytes',
    group: 'Gateway',
    roles: ['gateway', 'api', 'ingest'],
    description:
      'The largest request body. A response may be four times as large. Ingest compares it with its memory ([more](deployment.md#memory)).',
  }),
  BODIES_MEMORY_BYTES: optionalInteger(MIB, 1024 * 1024 * MIB, {
    defaultText:
      'a quarter of the memory that the process may have, divided by `GATEWAYS`; in the API, an eighth',
    unit: 'bytes',
    group: 'Gateway',
    roles: ['gateway', 'api'],
    description:
      'Request bodies of more than 64 KiB that each gateway, and the API, may hold in memory, at least two of the largest. One organization has at most half; further bodies wait, and further answers of the API are refused ([more](guides/routing.md#neighbours)).',
  }),
  CACHE_MEMORY_BYTES: integer(MIB, 64 * 1024 * MIB, {
    default: 64 * MIB,
    unit: 'bytes',
    group: 'Gateway',
    roles: ['gateway'],
    description: 'Stored responses that each gateway keeps in memory, in front of Postgres.',
  }),
  PROVIDER_CONNECT_TIMEOUT_MS: integer(1, MAX_MS, {
    default: 10_000,
    unit: 'ms',
    group: 'Gateway',
    roles: ['gateway'],
    description: 'How long a connection to a provider may take.',
  }),
  PROVIDER_FIRST_BYTE_TIMEOUT_MS: integer(1, MAX_MS, {
    default: 600_000,
    unit: 'ms',
    group: 'Gateway',
    roles: ['gateway', 'evaluators'],
    description:
      "How long the headers of a provider's response may take. Evaluators wait for the gateway accordingly.",
  }),
  PROVIDER_IDLE_TIMEOUT_MS: integer(1, MAX_MS, {
    default: 120_000,
    unit: 'ms',
    group: 'Gateway',
    roles: ['gateway'],
    description: "How long a provider may be silent in the middle of a response's body.",
  }),
  // A gateway opens 1,024 connections to a provider. Half of them is the default: with all of them one organization could
  // keep every other from a provider, with a few an organization that runs a gateway for itself alone would wait.
  PROVIDER_CONCURRENCY_PER_ORGANIZATION: integer(1, 1_024, {
    default: 512,
    group: 'Gateway',
    roles: ['gateway'],
    description:
      'Calls of one organization that may be under way to one provider, in each gateway; 1024 is all of them ([more](guides/routing.md#neighbours)).',
  }),
  MODELS_FILE: optionalText('a JSON file', {
    group: 'Gateway',
    roles: ['gateway', 'ingest', 'evaluators'],
    description:
      'Models and prices beside the built-in ones or in their place, and groups of models. It is read at start ([models](guides/models.md)).',
  }),

  GATEWAY_URL: address(['http:', 'https:'], 'http://gateway:8787', {
    isSecret: true,
    defaultText: '`http://127.0.0.1:` (with TLS `https:`) and the port of the gateway',
    group: 'Evaluators',
    roles: ['api', 'evaluators'],
    description: 'The gateway that evaluators call judges through, and the API the models of the playground.',
  }),
  GATEWAY_CERT_FILE: optionalText('a PEM file', {
    defaultText: '`TLS_CERT_FILE` where `GATEWAY_URL` is missing',
    group: 'Evaluators',
    roles: ['api', 'evaluators'],
    description:
      'The certificate of the gateway at `GATEWAY_URL`. Evaluators and the API trust exactly this one, whatever its name, and call the gateway without a proxy. Without it they trust what the authorities of the system have signed.',
  }),
  OUTBOUND_ALLOW: allowList({
    group: 'Evaluators',
    roles: ['api', 'ingest', 'evaluators'],
    description:
      'What EXTERNAL evaluators and [webhooks](guides/webhooks.md) may call beside the public internet.',
  }),
  EVALUATOR_CONCURRENCY: integer(1, 1_024, {
    default: 32,
    group: 'Evaluators',
    roles: ['evaluators'],
    description:
      'Calls of judges and external services at a time, in one process; a quarter more, at least one, for organizations that have none under way.',
  }),
  PYTHON_CONCURRENCY: integer(1, 64, {
    default: 4,
    group: 'Evaluators',
    roles: ['evaluators'],
    description: 'Python evaluations at a time, in one process.',
  }),
  PYTHON: optionalText('a program', {
    defaultText: '`/usr/bin/python3`, else `python3` on the path',
    group: 'Evaluators',
    roles: ['evaluators'],
    description: "The Python that runs evaluators' code: 3.9 or newer, on Linux.",
  }),

  HTTPS_PROXY: proxy({
    isSecret: true,
    hasLowerCaseName: true,
    group: 'Proxies',
    roles: ['gateway', 'api', 'ingest', 'evaluators'],
    description: 'The proxy for calls to https addresses ([proxies](guides/proxies.md)).',
  }),
  HTTP_PROXY: proxy({
    isSecret: true,
    hasLowerCaseName: true,
    group: 'Proxies',
    roles: ['gateway', 'api', 'ingest', 'evaluators'],
    description: 'The proxy for calls to http addresses.',
  }),
  NO_PROXY: proxyBypass({
    hasLowerCaseName: true,
    group: 'Proxies',
    roles: ['gateway', 'api', 'ingest', 'evaluators'],
    description: 'What is called without a proxy. Loopback always is.',
  }),

  LOG_LEVEL: choice(LOG_LEVELS, {
    default: 'info',
    group: 'Process',
    roles: PROCESSES,
    description: 'The least severe level that is logged.',
  }),
  SHUTDOWN_TIMEOUT_MS: integer(1, MAX_MS, {
    default: 10_000,
    unit: 'ms',
    group: 'Process',
    roles: PROCESSES,
    description: 'How long each process may take to finish what it has begun.',
  }),
  DRAIN_DELAY_MS: integer(0, MAX_MS, {
    default: 0,
    unit: 'ms',
    group: 'Process',
    roles: ['gateway', 'api'],
    description:
      'How long a gateway or an API that was told to stop goes on accepting connections, with `/readyz` at 503, for load balancers. It is a part of `SHUTDOWN_TIMEOUT_MS`.',
  }),
});
