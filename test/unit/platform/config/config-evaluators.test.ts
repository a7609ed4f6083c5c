/** The variables of evaluators. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { type Config, readConfig } from '#platform/config/mod.ts';
import { parseAllowList } from '#platform/outbound/mod.ts';

function configOf(environment: Record<string, string>): Config {
  const result = readConfig(environment);
  if (!result.ok) throw new Error(result.problems.join('; '));
  return result.config;
}

t.test('an empty environment gives the defaults of the evaluators', async (t) => {
  const config = configOf({});
  t.same(config.secretKeys, []);
  t.same(config.outboundAllow, [], 'nothing but the public internet is called');
  t.same(config.gateway, { url: 'http://127.0.0.1:8787', certFile: null });
  t.same(config.evaluators, {
    remoteConcurrency: 32,
    pythonConcurrency: 4,
    python: null,
  });
});

t.test(
  'judges are called through the gateway of this machine unless GATEWAY_URL names another',
  async (t) => {
    t.equal(configOf({ GATEWAY_PORT: '9000' }).gateway.url, 'http://127.0.0.1:9000');
    const named = configOf({ GATEWAY_PORT: '9000', GATEWAY_URL: 'https://gateway.internal:8443/' });
    t.equal(named.gateway.url, 'https://gateway.internal:8443');
  },
);

t.test('EVALUATOR_CONCURRENCY, PYTHON_CONCURRENCY and PYTHON set what the evaluators use', async (t) => {
  const { evaluators } = configOf({
    EVALUATOR_CONCURRENCY: '1024',
    PYTHON_CONCURRENCY: '1',
    PYTHON: ' /opt/python/bin/python3.13 ',
  });
  t.match(evaluators, {
    remoteConcurrency: 1024,
    pythonConcurrency: 1,
    python: '/opt/python/bin/python3.13',
  });
});

t.test('SECRET_KEY is 32 bytes, as base64 or as hex', async (t) => {
  const key = randomBytes(32);
  for (const text of [key.toString('base64'), key.toString('hex'), key.toString('hex').toUpperCase()]) {
    t.same(configOf({ SECRET_KEY: text }).secretKeys, [key], text.length.toString());
    t.same(configOf({ SECRET_KEY: ` ${text}\n` }).secretKeys, [key], 'as a file with a line has it');
  }
});

t.test('SECRET_KEY may hold several keys, in the order in which they are used', async (t) => {
  const [now, before, longAgo] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const given = [now.toString('base64'), before.toString('hex'), longAgo.toString('base64')];
  t.same(configOf({ SECRET_KEY: given.join(' , ') }).secretKeys, [now, before, longAgo]);
  t.same(configOf({ SECRET_KEY: `${given[0]},` }).secretKeys, [now], 'a comma at the end is nothing');
});

const KEY_RULE =
  'SECRET_KEY must be 32 bytes as base64 or hex (openssl rand -base64 32), or more than one with commas between them';
const GOOD_KEY = Buffer.alloc(32, 1).toString('base64');

const problems: [string, Record<string, string>, string][] = [
  ['a password', { SECRET_KEY: 'correct horse battery staple' }, KEY_RULE],
  ['31 bytes', { SECRET_KEY: Buffer.alloc(31).toString('base64') }, KEY_RULE],
  ['33 bytes', { SECRET_KEY: Buffer.alloc(33).toString('base64') }, KEY_RULE],
  ['63 digits of hex', { SECRET_KEY: 'a'.repeat(63) }, KEY_RULE],
  ['64 characters that are no hex', { SECRET_KEY: `${'a'.repeat(63)}g` }, KEY_RULE],
  ['one bad key beside a good one', { SECRET_KEY: `${GOOD_KEY},short` }, KEY_RULE],
  ['several bad keys, told once', { SECRET_KEY: 'short,shorter,shortest' }, KEY_RULE],
  [
    'a URL where a host belongs',
    { OUTBOUND_ALLOW: '10.0.0.0/8,http://scorer.lan' },
    'OUTBOUND_ALLOW must be addresses, CIDRs or host names with commas between them, but one is "http://scorer.lan"',
  ],
  [
    'a range of too many bits',
    { OUTBOUND_ALLOW: '10.0.0.0/33' },
    'OUTBOUND_ALLOW must be addresses, CIDRs or host names with commas between them, but one is "10.0.0.0/33"',
  ],
  [
    'a pattern of hosts',
    { OUTBOUND_ALLOW: '*.lan' },
    'OUTBOUND_ALLOW must be addresses, CIDRs or host names with commas between them, but one is "*.lan"',
  ],
  [
    'a long entry, quoted in part',
    { OUTBOUND_ALLOW: `${'x'.repeat(100)} y` },
    `OUTBOUND_ALLOW must be addresses, CIDRs or host names with commas between them, but one is "${'x'.repeat(80)}"`,
  ],
  [
    'a host without a scheme',
    { GATEWAY_URL: 'gateway:8787' },
    'GATEWAY_URL must be an address like http://gateway:8787',
  ],
  [
    'another scheme, with a password that is not told',
    { GATEWAY_URL: 'ftp://user:password@gateway' },
    'GATEWAY_URL must be an address like http://gateway:8787',
  ],
  [
    'none at a time',
    { EVALUATOR_CONCURRENCY: '0' },
    'EVALUATOR_CONCURRENCY must be a whole number from 1 to 1024, but is "0"',
  ],
  [
    'too many at a time',
    { EVALUATOR_CONCURRENCY: '1025' },
    'EVALUATOR_CONCURRENCY must be a whole number from 1 to 1024, but is "1025"',
  ],
  [
    'half a Python at a time',
    { PYTHON_CONCURRENCY: '0.5' },
    'PYTHON_CONCURRENCY must be a whole number from 1 to 64, but is "0.5"',
  ],
  [
    'too many Pythons at a time',
    { PYTHON_CONCURRENCY: '65' },
    'PYTHON_CONCURRENCY must be a whole number from 1 to 64, but is "65"',
  ],
];

for (const [what, environment, problem] of problems) {
  t.test(`${Object.keys(environment)[0]} with ${what} is refused`, async (t) => {
    t.same(readConfig(environment), { ok: false, problems: [problem] });
  });
}

t.test('OUTBOUND_ALLOW admits exactly the hosts, addresses and CIDRs it lists', async (t) => {
  const { outboundAllow } = configOf({ OUTBOUND_ALLOW: ' 10.1.0.0/16 ,fd00::/8,, Scorer.Lan,192.168.0.7' });
  t.same(outboundAllow, ['10.1.0.0/16', 'fd00::/8', 'Scorer.Lan', '192.168.0.7']);
  const parsed = parseAllowList(outboundAllow);
  t.ok('allow' in parsed && parsed.allow.admits('10.1.200.3') && parsed.allow.hasHost('scorer.lan'));
  t.notOk('allow' in parsed && parsed.allow.admits('10.2.0.1'));
});
