import t from 'tap';
import { type ExternalConfig, type ExternalSecrets, readExternalConfig } from '#core/contracts/external.ts';
import type { PreviousExternal } from '#core/contracts/external-secrets.ts';
import { AUTOEVAL_URL } from '#core/contracts/external-shape.ts';
import { checkOutboundUrl, parseAllowList } from '#platform/outbound/mod.ts';

const parsed = parseAllowList(['127.0.0.1']);
if ('badEntry' in parsed) throw new Error(parsed.badEntry);
const checkUrl = (url: string) => checkOutboundUrl(url, parsed.allow);
const read = (value: unknown, previous?: PreviousExternal) =>
  readExternalConfig(value, { checkUrl, previous });

const KEY = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const url = 'https://scorer.example.com/v1';

/** Returns the sentence with which a value is refused. */
function refusal(value: unknown, previous?: PreviousExternal): string {
  try {
    read(value, previous);
    return 'taken';
  } catch (error) {
    return (error as Error).message;
  }
}

t.test('an external_config is split into the stored config and its secrets, keyed by their path', (t) => {
  t.same(read({ adapter: 'http', url }), { config: { adapter: 'http', url }, secrets: {} });
  t.same(
    read({
      adapter: 'http',
      url,
      headers: { Authorization: 'Bearer x', 'x-a': '1' },
      secret: KEY,
      timeoutMs: 5_000,
    }),
    {
      config: {
        adapter: 'http',
        url,
        headers: { authorization: '[secret]', 'x-a': '[secret]' },
        secret: '[secret]',
        timeoutMs: 5_000,
      },
      secrets: { 'headers.authorization': 'Bearer x', 'headers.x-a': '1', secret: KEY },
    },
  );
  t.same(read({ adapter: 'autoeval', metric: 'Faithfulness', apiKey: 'k-1' }), {
    config: { adapter: 'autoeval', url: AUTOEVAL_URL, metric: 'Faithfulness', apiKey: '[secret]' },
    secrets: { apiKey: 'k-1' },
  });
  const scorer = { adapter: 'autoevals', scorer: 'ExactMatch', expectedFrom: 'inputs.answer' };
  t.same(read(scorer), { config: scorer, secrets: {} });
  t.same(read({ adapter: 'http', url, headers: null, secret: null }), {
    config: { adapter: 'http', url },
    secrets: {},
  });
  t.end();
});

t.test('each violated rule of external_config is refused with its own sentence', (t) => {
  const http = { adapter: 'http', url };
  const autoeval = { adapter: 'autoeval', metric: 'm', apiKey: 'k' };
  const levenshtein = { adapter: 'autoevals', scorer: 'Levenshtein', expected: 'x' };
  const cases: [unknown, string | RegExp][] = [
    [null, 'external_config must be an object'],
    ['{"adapter":"http"}', 'external_config must be an object'],
    [[], 'external_config must be an object'],
    [{}, 'external_config.adapter is required: one of "http", "autoeval", "autoevals", "imported"'],
    [
      { adapter: 'x' },
      'external_config.adapter must be one of "http", "autoeval", "autoevals", "imported", but is "x"',
    ],
    [{ adapter: 'constructor' }, /must be one of/],
    [{ adapter: 'http' }, 'external_config.url is required'],
    [{ ...http, url: 5 }, /^external_config.url must be a string/],
    [{ ...http, url: '' }, /^external_config.url must not be empty$/],
    [{ ...http, url: `https://u:canary@example.com/${'x'.repeat(2_048)}` }, /at most 2048 characters/],
    [{ ...http, more: 1 }, 'external_config.more is not a known field'],
    [{ ...http, apiKey: 'sk-canary' }, 'external_config.apiKey is not a known field'],
    [{ ...http, timeoutMs: 99 }, 'external_config.timeoutMs must be at least 100, but is 99'],
    [{ ...http, timeoutMs: 120_001 }, 'external_config.timeoutMs must be at most 120000, but is 120001'],
    [{ ...http, timeoutMs: 1.5 }, 'external_config.timeoutMs must be a whole number, but is 1.5'],
    [
      { ...http, url: 'file:///etc/passwd' },
      'external_config.url must be a whole http or https address (ext_forbidden_url)',
    ],
    [
      { ...http, url: 'https://u:canary@example.com' },
      'external_config.url must not hold a user name or a password (ext_forbidden_url)',
    ],
    [
      { ...http, url: 'http://169.254.169.254/' },
      /^external_config.url must lead to a public host.*\(ext_forbidden_url\)$/,
    ],
    [{ ...autoeval, url: 'http://localhost/' }, /^external_config.url must lead to a public host/],
    [{ ...http, secret: 'canary' }, 'external_config.secret must be "whsec_" and 24 to 64 bytes as base64'],
    [{ ...http, secret: 'whsec_' }, /24 to 64 bytes/],
    [{ ...http, secret: `whsec_${Buffer.alloc(65).toString('base64')}` }, /24 to 64 bytes/],
    [{ ...http, secret: 5 }, /^external_config.secret must be a string or null$/],
    [{ ...http, headers: 'canary' }, 'external_config.headers must be an object'],
    [{ ...http, headers: ['canary'] }, 'external_config.headers must be an object'],
    [{ ...http, headers: { a: 5 } }, 'external_config.headers.a must be a string'],
    [{ ...http, headers: { 'a b': 'canary' } }, 'external_config.headers.a b is not the name of a header'],
    [
      { ...http, headers: { 'a\r\nb': 'canary' } },
      'external_config.headers.a\\r\\nb is not the name of a header',
    ],
    [{ ...http, headers: { '': 'canary' } }, 'external_config.headers. is not the name of a header'],
    [
      { ...http, headers: { Host: 'canary' } },
      'external_config.headers.Host is a header that the service sets itself',
    ],
    [{ ...http, headers: { 'Webhook-Signature': 'canary' } }, /that the service sets itself/],
    [{ ...http, headers: { 'transfer-encoding': 'canary' } }, /that the service sets itself/],
    [{ ...http, headers: { a: '1', A: '2' } }, 'external_config.headers.A is given twice'],
    [{ ...http, headers: { a: 'canary\r\nx: y' } }, /^external_config.headers.a must be printable ASCII/],
    [{ ...http, headers: { a: ' canary' } }, /printable ASCII/],
    [{ ...http, headers: { a: 'canäry' } }, /printable ASCII/],
    [{ ...http, headers: { a: '' } }, /printable ASCII/],
    [{ ...http, headers: { a: 'x'.repeat(4_097) } }, /printable ASCII of 1 to 4096/],
    [
      { ...http, headers: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`h${i}`, 'x'])) },
      /at most 20 headers/,
    ],
    [{ adapter: 'autoeval', metric: 'm' }, 'external_config.apiKey is required'],
    [{ ...autoeval, apiKey: null }, 'external_config.apiKey is required'],
    [{ ...autoeval, apiKey: 'can ary' }, /^external_config.apiKey must be printable ASCII/],
    [{ ...autoeval, apiKey: { canary: 1 } }, /^external_config.apiKey must be a string or null$/],
    [
      { adapter: 'autoeval', apiKey: 'k' },
      'external_config.metric or external_config.metricId is required, and not both',
    ],
    [{ ...autoeval, metricId: 'm' }, /and not both/],
    [{ ...autoeval, expected: 1, expectedFrom: 'input' }, /expectedFrom must not be given together/],
    [
      { ...autoeval, expectedFrom: 'inputs' },
      /expectedFrom must be one of input, output, inputs.<name>.*but is "inputs"$/,
    ],
    [{ ...autoeval, expectedFrom: 'a}}{{input' }, /expectedFrom must be one of/],
    [{ adapter: 'autoevals' }, 'external_config.scorer is required'],
    [
      { adapter: 'autoevals', scorer: 'Factuality', expected: '' },
      /^external_config.scorer must be one of "ExactMatch", "Levenshtein", /,
    ],
    [
      { adapter: 'autoevals', scorer: 'Levenshtein' },
      'external_config.expected or external_config.expectedFrom is required for the scorer "Levenshtein"',
    ],
    [
      { adapter: 'autoevals', scorer: 'ValidJSON', expected: 1 },
      'external_config.expected does not apply to the scorer "ValidJSON"',
    ],
    [
      { ...levenshtein, allowExtraEntities: true },
      'external_config.allowExtraEntities does not apply to the scorer "Levenshtein"',
    ],
    [
      { ...levenshtein, scorer: 'NumericDiff' },
      'external_config.expected must be a number for the scorer "NumericDiff"',
    ],
    [{ ...levenshtein, scorer: 'ListContains', expected: [1] }, /must be an array of strings/],
    [{ ...levenshtein, expected: 'x'.repeat(65_536) }, /expected must have at most 65536 characters/],
  ];
  for (const [value, sentence] of cases) {
    const refused = refusal(value);
    if (typeof sentence === 'string') t.equal(refused, sentence);
    else t.match(refused, sentence);
    t.notMatch(refused, /canary|can ary|canäry/, 'no secret is quoted');
  }
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  t.equal(refusal({ ...levenshtein, expected: deep }), 'external_config.expected is nested too deep');
  t.end();
});

const before = (value: unknown): PreviousExternal & { opened: number } => {
  const { config, secrets } = read(value);
  const previous = {
    config,
    opened: 0,
    openSecrets: (): ExternalSecrets => {
      previous.opened += 1;
      return secrets;
    },
  };
  return previous;
};

t.test('a change keeps the secrets that it omits, and drops those that it gives as null', (t) => {
  const previous = before({ adapter: 'http', url, headers: { a: 'old-a', b: 'old-b' }, secret: KEY });
  const whole = read({ adapter: 'http', url, timeoutMs: 500 }, previous);
  t.same(whole.secrets, { 'headers.a': 'old-a', 'headers.b': 'old-b', secret: KEY });
  t.same(whole.config, { ...previous.config, timeoutMs: 500 });
  t.same(read(previous.config, previous).secrets, whole.secrets, 'what GET shows can be put back');
  const changed = read(
    { adapter: 'http', url, headers: { A: '[secret]', c: 'new-c' }, secret: null },
    previous,
  );
  t.same(changed.secrets, { 'headers.a': 'old-a', 'headers.c': 'new-c' });
  t.same(changed.config, { adapter: 'http', url, headers: { a: '[secret]', c: '[secret]' } });
  t.same(read({ adapter: 'http', url, headers: {}, secret: null }, previous).secrets, {});
  const key = before({ adapter: 'autoeval', metric: 'm', apiKey: 'k-old' });
  t.same(read({ adapter: 'autoeval', metric: 'n' }, key).secrets, { apiKey: 'k-old' });
  t.same(read({ adapter: 'autoeval', metric: 'n', apiKey: 'k-new' }, key).secrets, { apiKey: 'k-new' });
  t.equal(key.opened, 1, 'stored secrets are opened only when one of them is kept');
  t.end();
});

t.test('a change of the url is refused unless its secrets are given again', (t) => {
  const previous = before({ adapter: 'http', url, headers: { a: 'canary' }, secret: KEY });
  const elsewhere = { adapter: 'http', url: `${url}/other` };
  const again = 'must be given again, because external_config.url is another one';
  t.equal(refusal(elsewhere, previous), `external_config.headers.a ${again}`);
  t.equal(refusal({ ...elsewhere, headers: null }, previous), `external_config.secret ${again}`);
  t.equal(
    refusal({ ...elsewhere, headers: { a: '[secret]' }, secret: null }, previous),
    `external_config.headers.a ${again}`,
  );
  t.same(read({ ...elsewhere, headers: null, secret: null }, previous).secrets, {});
  t.same(read({ ...elsewhere, headers: { a: 'n' }, secret: KEY }, previous).secrets, {
    'headers.a': 'n',
    secret: KEY,
  });
  const key = before({ adapter: 'autoeval', metric: 'm', apiKey: 'canary' });
  const moved: Partial<ExternalConfig> = { adapter: 'autoeval', url, metric: 'm' };
  t.equal(refusal(moved, key), `external_config.apiKey ${again}`);
  t.equal(previous.opened + key.opened, 0);
  t.end();
});

t.test('[secret] is refused when the same adapter has no stored secret', (t) => {
  const nothing = /is "\[secret\]", which stands for a stored value, and there is none$/;
  t.match(refusal({ adapter: 'http', url, secret: '[secret]' }), nothing);
  t.match(refusal({ adapter: 'http', url, headers: { a: '[secret]' } }), nothing);
  const key = before({ adapter: 'autoeval', url, metric: 'm', apiKey: 'k' });
  t.match(refusal({ adapter: 'http', url, secret: '[secret]' }, key), nothing);
  t.equal(refusal({ adapter: 'autoevals', scorer: 'ValidJSON' }, key), 'taken');
  const http = before({ adapter: 'http', url, headers: { a: 'x' } });
  t.match(refusal({ adapter: 'http', url, headers: { b: '[secret]' } }, http), nothing);
  t.equal(refusal({ adapter: 'autoeval', url, metric: 'm' }, http), 'external_config.apiKey is required');
  t.end();
});
