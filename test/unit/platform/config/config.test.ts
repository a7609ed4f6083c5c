import { isAbsolute, resolve } from 'node:path';
import t from 'tap';
import { type Config, readConfig } from '#platform/config/mod.ts';

function configOf(environment: Record<string, string>): Config {
  const result = readConfig(environment);
  if (!result.ok) throw new Error(result.problems.join('; '));
  return result.config;
}

t.test('an empty environment gives the defaults', async (t) => {
  const config = configOf({});
  t.match(config, {
    host: '127.0.0.1',
    gatewayPort: 8_787,
    gateways: 1,
    sharePort: false,
    gatewaySocketFds: [],
    apiPort: 8_585,
    databaseUrl: null,
    bootstrapApiKey: null,
    logLevel: 'info',
    outbox: { maxBytes: 8 * 1024 ** 3, sync: 'process' },
    providerTimeouts: { connectMs: 10_000, firstByteMs: 600_000, idleMs: 120_000 },
    maxBodyBytes: 32 * 1024 ** 2,
    shutdownMs: 10_000,
    drainDelayMs: 0,
  });
  t.equal(config.dataDir, resolve('.data'));
});

t.test('an empty variable counts as missing', async (t) => {
  t.same(configOf({ DATABASE_URL: '', GATEWAY_PORT: ' ', OPENAI_API_KEY: '' }), configOf({}));
});

t.test('DATA_DIR becomes absolute', async (t) => {
  t.ok(isAbsolute(configOf({ DATA_DIR: 'some/where' }).dataDir));
});

t.test('PUBLIC_URL is an origin of https, or of http on loopback', async (t) => {
  t.equal(configOf({}).publicUrl, null);
  for (const [text, origin] of [
    ['https://Assay.Example.com/', 'https://assay.example.com'],
    ['https://assay.example.com:443', 'https://assay.example.com'],
    ['https://10.0.0.1:8443', 'https://10.0.0.1:8443'],
    ['http://localhost:8585', 'http://localhost:8585'],
    ['http://[::1]:8585', 'http://[::1]:8585'],
  ] as const) {
    t.equal(configOf({ PUBLIC_URL: text }).publicUrl, origin);
  }
  for (const text of [
    'assay.example.com',
    'http://assay.example.com',
    'http://localhost.example.com',
    'https://assay.example.com/path',
    'https://assay.example.com/?a=b',
    'https://assay.example.com/#a',
    'https://user:word@assay.example.com',
    'ftp://localhost',
  ]) {
    const read = readConfig({ PUBLIC_URL: text });
    t.match(read, { ok: false, problems: [/^PUBLIC_URL must be an address like https:/] }, text);
  }
});

t.test('GATEWAY_ALLOWED_ORIGINS has origins as browsers write them', async (t) => {
  t.same(configOf({}).allowedOrigins, [], 'no page may call the gateway');
  const text = 'https://App.Example.com/, http://localhost:5173,https://a.example:443, app://obsidian.md';
  t.same(configOf({ GATEWAY_ALLOWED_ORIGINS: text }).allowedOrigins, [
    'https://app.example.com',
    'http://localhost:5173',
    'https://a.example',
    'app://obsidian.md',
  ]);
  for (const bad of [
    '*',
    'null',
    'app.example.com',
    'https://*.example.com',
    'https://a.example/path',
    'https://',
  ]) {
    const read = readConfig({ GATEWAY_ALLOWED_ORIGINS: `https://app.example.com,${bad}` });
    const problem =
      'GATEWAY_ALLOWED_ORIGINS must be origins like https://app.example.com, without a path, with commas between them, but one is';
    t.same(read, { ok: false, problems: [`${problem} "${bad}"`] });
  }
});

t.test('the variables of a provider are those that its own tools read', async (t) => {
  const { providers } = configOf({
    OPENAI_API_KEY: 'sk-1',
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1/',
    GEMINI_API_KEY: 'g-1',
    AZURE_OPENAI_API_KEY: 'a-1',
    AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com/',
    AZURE_OPENAI_API_VERSION: '2024-10-21',
    CUSTOM_BASE_URL: 'https://llm.example/v1',
  });
  t.same(providers.openai, { apiKey: 'sk-1', baseUrl: 'http://127.0.0.1:9/v1', apiVersion: null });
  t.same(providers.google, { apiKey: 'g-1', baseUrl: null, apiVersion: null });
  t.same(providers.azure, {
    apiKey: 'a-1',
    baseUrl: 'https://mine.openai.azure.com',
    apiVersion: '2024-10-21',
  });
  t.same(providers.custom, { apiKey: null, baseUrl: 'https://llm.example/v1', apiVersion: null });
  t.same(providers.mistral, { apiKey: null, baseUrl: null, apiVersion: null });
});

t.test('AZURE_OPENAI_BASE_URL overrides the endpoint', async (t) => {
  const { providers } = configOf({
    AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com',
    AZURE_OPENAI_BASE_URL: 'http://127.0.0.1:9',
  });
  t.equal(providers.azure.baseUrl, 'http://127.0.0.1:9');
});

const LONG_KEY = 'k'.repeat(129);
const NATS_PROBLEM =
  'NATS_URL must be addresses like nats://user:password@host:4222, with commas between them, and special characters of the password encoded, as %40 for @';
const problems: [Record<string, string>, string][] = [
  [
    { AZURE_OPENAI_API_VERSION: 'newest' },
    'AZURE_OPENAI_API_VERSION must be a version like 2024-10-21, but is "newest"',
  ],
  [{ GATEWAY_PORT: '80\na' }, 'GATEWAY_PORT must be a whole number from 0 to 65535, but is "80\\na"'],
  [{ GATEWAY_PORT: '80a' }, 'GATEWAY_PORT must be a whole number from 0 to 65535, but is "80a"'],
  [{ API_PORT: '65536' }, 'API_PORT must be a whole number from 0 to 65535, but is "65536"'],
  [{ API_PORT: '-1' }, 'API_PORT must be a whole number from 0 to 65535, but is "-1"'],
  [{ EVALUATORS_PORT: '1e3' }, 'EVALUATORS_PORT must be a whole number from 0 to 65535, but is "1e3"'],
  [{ GATEWAY_PORT: '90', API_PORT: '90' }, 'API_PORT must differ from GATEWAY_PORT, but both are 90'],
  [
    { DATABASE_URL: 'mysql://u:secret@h/d' },
    'DATABASE_URL must be an address like postgres://user:password@host:5432/database, with special characters of the password encoded, as %40 for @',
  ],
  [
    { DATABASE_URL: 'localhost' },
    'DATABASE_URL must be an address like postgres://user:password@host:5432/database, with special characters of the password encoded, as %40 for @',
  ],
  [{ NATS_URL: 'nats://a:4222,http://secret@b' }, NATS_PROBLEM],
  [{ NATS_URL: 'nats://u:pass%zz@a:4222' }, NATS_PROBLEM],
  [{ NATS_URL: 'nats://u:p@secret/word@a:4222' }, NATS_PROBLEM],
  [{ NATS_URL: 'nats://u:p#word@a:4222' }, NATS_PROBLEM],
  [
    { NATS_URL: 'nats://u:p@a:4222,nats://v:p@b:4222' },
    'NATS_URL must have one account for all servers, in the first of them',
  ],
  [
    { NATS_URL: 'nats://a:4222,nats://u:p@b:4222' },
    'NATS_URL must have one account for all servers, in the first of them',
  ],
  [{ NATS_CREDS: '/etc/nats.creds' }, 'NATS_CREDS needs NATS_URL, which is not set'],
  [{ NATS_KEY_FILE: '/etc/key.pem' }, 'NATS_KEY_FILE needs NATS_CERT_FILE, which is not set'],
  [{ RETENTION_DAYS: 'forever' }, 'RETENTION_DAYS must be a whole number from 0 to 36500, but is "forever"'],
  [
    { BOOTSTRAP_API_KEY: 'too-short' },
    'BOOTSTRAP_API_KEY must be 20 to 128 printable ASCII characters without spaces, but has 9 characters',
  ],
  [
    { BOOTSTRAP_API_KEY: LONG_KEY },
    'BOOTSTRAP_API_KEY must be 20 to 128 printable ASCII characters without spaces, but has 129 characters',
  ],
  [
    { BOOTSTRAP_API_KEY: 'a key with spaces in it' },
    'BOOTSTRAP_API_KEY must be 20 to 128 printable ASCII characters without spaces',
  ],
  [
    { LOG_LEVEL: 'loud' },
    'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, but is "loud"',
  ],
  [{ OPENAI_BASE_URL: 'api.openai.com/v1' }, 'OPENAI_BASE_URL must be an address like https://host/v1'],
  [{ GROQ_BASE_URL: 'file:///etc/passwd' }, 'GROQ_BASE_URL must be an address like https://host/v1'],
  [
    { OPENAI_API_KEY: 'line\nbreak' },
    'OPENAI_API_KEY must be 1 to 4096 printable ASCII characters without spaces',
  ],
  [
    { OUTBOX_MAX_BYTES: '8GiB' },
    'OUTBOX_MAX_BYTES must be a whole number from 1048576 to 1099511627776, but is "8GiB"',
  ],
  [{ OUTBOX_SYNC: 'always' }, 'OUTBOX_SYNC must be one of process, disk, but is "always"'],
  [{ MAX_BODY_BYTES: '0' }, 'MAX_BODY_BYTES must be a whole number from 1024 to 50331648, but is "0"'],
  [{ SHUTDOWN_TIMEOUT_MS: '0' }, 'SHUTDOWN_TIMEOUT_MS must be a whole number from 1 to 86400000, but is "0"'],
  [{ GATEWAYS: '0' }, 'GATEWAYS must be a whole number from 1 to 64, but is "0"'],
  [{ GATEWAY_SHARE_PORT: 'yes' }, 'GATEWAY_SHARE_PORT must be one of true, false, but is "yes"'],
  [{ GATEWAY_SOCKET_FDS: '0' }, 'GATEWAY_SOCKET_FDS must be a whole number from 1 to 64, but is "0"'],
  [{ GATEWAY_SOCKET_FD: '2' }, 'GATEWAY_SOCKET_FD must be a whole number from 3 to 65535, but is "2"'],
  [
    { DRAIN_DELAY_MS: '10000' },
    'DRAIN_DELAY_MS must be less than SHUTDOWN_TIMEOUT_MS, which is 10000, but is 10000',
  ],
  [
    { PROVIDER_IDLE_TIMEOUT_MS: 'never' },
    'PROVIDER_IDLE_TIMEOUT_MS must be a whole number from 1 to 86400000, but is "never"',
  ],
];

for (const [environment, problem] of problems) {
  t.test(`${problem.slice(0, 100)}`, async (t) => {
    t.same(readConfig(environment), { ok: false, problems: [problem] });
  });
}

t.test('every broken variable is reported at once, and no secret is quoted', async (t) => {
  const environment = Object.assign({}, ...problems.map(([one]) => one)) as Record<string, string>;
  // Two equal ports are no problem while neither is a port.
  const changes = {
    GATEWAY_PORT: 'x',
    API_PORT: 'y',
    DATABASE_URL: 'mysql://u:secret@h/d',
    BOOTSTRAP_API_KEY: LONG_KEY,
  };
  const result = readConfig({ ...environment, ...changes });
  t.notOk(result.ok);
  if (result.ok) return;
  const names = result.problems.map((problem) => problem.split(' ')[0]);
  t.same([...new Set(names)].length, names.length, 'one line each');
  t.equal(names.length, Object.keys(environment).length);
  t.notMatch(result.problems.join('\n'), /secret|kkkk/);
});
