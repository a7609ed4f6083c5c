import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MAX_DEPTH, MAX_LEAVES } from '#core/filter/limits.ts';
import { parseFilter } from '#core/filter/mod.ts';
import { MAX_QUERY_LENGTH, parseQuery } from '#core/filter/query-text/mod.ts';
import { readQueryText } from '#core/filter/query-text/parse.ts';
import { printQuery } from '#core/filter/query-text/print.ts';
import type { FilterTree } from '#core/filter/query-text/tree.ts';
import { readSource } from '../../../../../scripts/structure/source.ts';

const leaf = (section: string, field: string, operator: string, operand: unknown) =>
  ({ [section]: { [field]: { [operator]: operand } } }) as FilterTree;
const user = (operand: unknown, operator = 'equals') => leaf('request', 'user_id', operator, operand);
const status = (operand: number, operator = 'equals') => leaf('response', 'status', operator, operand);
const KEY_ID = 'b6a02fa1-2b2d-40c5-95e1-93b528d8b55b';
const both = (left: FilterTree, operator: 'and' | 'or', right: FilterTree) =>
  ({ left, operator, right }) as FilterTree;
const anywhere = (text: string) =>
  [leaf('response', 'body', 'contains', text), leaf('request', 'id', 'equals', text), user(text)].reduce(
    (left, right) => both(left, 'or', right),
    leaf('request', 'body', 'contains', text),
  );

/** Beyond the examples in docs/api/query-text.md, which are tests, too. */
const READINGS: [text: string, filter: FilterTree][] = [
  ['', 'all'],
  [' \n\t', 'all'],
  ['* status:500', both('all', 'and', status(500))],
  ['-*', leaf('request', 'id', 'equals', null)],
  ['NOT NOT --user:a', user('a')],

  // Lists and groups
  ['user:b', user('b')],
  ['user:a user:b OR user:c', both(both(user('a'), 'and', user('b')), 'or', user('c'))],
  ['user:a (user:b OR user:c)', both(user('a'), 'and', both(user('b'), 'or', user('c')))],
  ['user:a AND NOT(user:b)', both(user('a'), 'and', user('b', 'not-equals'))],
  ['(((user:a)))', user('a')],
  ['-(user:a -user:b)', both(user('a', 'not-equals'), 'or', user('b'))],
  ['-user:(a OR b)', both(user('a', 'not-equals'), 'and', user('b', 'not-equals'))],
  ['user:(-a (b OR c))', both(user('a', 'not-equals'), 'and', both(user('b'), 'or', user('c')))],
  [
    'scores.x:(-1 OR NOT 2)',
    both(leaf('scores', 'x', 'equals', -1), 'or', leaf('scores', 'x', 'not-equals', 2)),
  ],
  ['status:(200..300 OR 404)', both(both(status(200, 'gte'), 'and', status(300, 'lt')), 'or', status(404))],
  ['-status:200..300', both(status(200, 'not-gte'), 'or', status(300, 'not-lt'))],
  ['status:..300', status(300, 'lt')],

  // Names that records have
  ['delay_ms:>=10', leaf('response', 'latency', 'gte', 10)],
  ['-request_user_id:a', user('a', 'not-equals')],
  ['response_status:200', status(200)],
  ['has:feedback_rating', leaf('feedback', 'rating', 'not-equals', null)],
  ['request_body:~a', leaf('request', 'body', 'contains', 'a')],

  // Values
  ['user:llama3:8b', user('llama3:8b')],
  ['user:"like:a"', user('like:a')],
  ['user:like:a*', user('a*', 'like')],
  ['user:equals:a*', user('a*')],
  ['user:a"b c"d', user('ab cd')],
  ['user:""', user('')],
  ['user:"null"', user('null')],
  ['user:5', user('5')],
  ['user:-5', user('-5')],
  ['user:=a', user('a')],
  ['user:!=a*', user('a%', 'not-like')],
  ['user:not-ilike:"A%"', user('A%', 'not-ilike')],
  ['user:"a\\u00e9\\n\\/"', user('aé\n/')],
  ['user:a_b%c\\*', user('a\\_b\\%c\\\\%', 'like')],
  ['path:/a/../b', leaf('request', 'path', 'equals', '/a/../b')],
  ['status:.5e1', status(5)],
  ['latency:1.005s', leaf('response', 'latency', 'equals', 1005)],
  ['latency:0.7m', leaf('response', 'latency', 'equals', 42_000)],
  ['ttft:<1h', leaf('response', 'time_to_first_token', 'lt', 3_600_000)],
  ['cost:0.1usd', leaf('response', 'cost', 'equals', 0.1)],
  ['created:1777896000000', leaf('request', 'created_at', 'equals', 1_777_896_000_000)],
  [
    'created:2026-05-04T12:00:00Z..2026-05-04T13:00:00.5+02:00',
    both(
      leaf('request', 'created_at', 'gte', '2026-05-04T12:00:00Z'),
      'and',
      leaf('request', 'created_at', 'lt', '2026-05-04T13:00:00.5+02:00'),
    ),
  ],
  ['values.n:5', leaf('values', 'n', 'equals', 5)],
  ['values.n:"5"', leaf('values', 'n', 'equals', '5')],
  ['values.n:true', leaf('values', 'n', 'equals', true)],
  ['values.n:a..b', leaf('values', 'n', 'equals', 'a..b')],
  ['values.n:~5', leaf('values', 'n', 'contains', '5')],
  ['property.true:true', leaf('properties', 'true', 'equals', 'true')],

  // Names
  ['request.model:a', leaf('request', 'model', 'equals', 'a')],
  ['model_used:a', leaf('request', 'model_used', 'equals', 'a')],
  [
    'model_used:(gpt-4o* OR null)',
    both(
      leaf('request', 'model_used', 'like', 'gpt-4o%'),
      'or',
      leaf('request', 'model_used', 'equals', null),
    ),
  ],
  [`api_key:${KEY_ID}`, leaf('request', 'api_key_id', 'equals', KEY_ID)],
  [`-api_key_id:"${KEY_ID}"`, leaf('request', 'api_key_id', 'not-equals', KEY_ID)],
  ['-has:api_key', leaf('request', 'api_key_id', 'equals', null)],
  ['source:playground', leaf('request', 'source', 'equals', 'playground')],
  [
    '-request.source:(api OR g*)',
    both(leaf('request', 'source', 'not-equals', 'api'), 'and', leaf('request', 'source', 'not-like', 'g%')),
  ],
  ['error_code:!=rate_limit_exceeded', leaf('response', 'error_code', 'not-equals', 'rate_limit_exceeded')],
  ['has:error_code', leaf('response', 'error_code', 'not-equals', null)],
  ['response.error.code:a', leaf('values', 'response.error.code', 'equals', 'a')],
  ['values.request.model:a', leaf('values', 'request.model', 'equals', 'a')],
  ['request.messages.0.role:a', leaf('values', 'request.messages.0.role', 'equals', 'a')],
  ['response."odd name".0:a', leaf('values', 'response.odd name.0', 'equals', 'a')],
  ['property."":a', leaf('properties', '', 'equals', 'a')],
  ['property.__proto__:a', { properties: { ['__proto__']: { equals: 'a' } } }],
  ['-has:property."a b"', leaf('properties', 'a b', 'equals', null)],

  // Texts without a field
  ['refund', anywhere('refund')],
  ['"a:b*"', anywhere('a:b*')],
  ['a=b', anywhere('a=b')],
  ['"status>=500"', anywhere('status>=500')],
  ['"OR"', anywhere('OR')],
  ['"null"', anywhere('null')],
  ['user:("NOT" OR "or")', both(user('NOT'), 'or', user('or'))],
  [
    '-refund',
    [
      leaf('response', 'body', 'not-contains', 'refund'),
      leaf('request', 'id', 'not-equals', 'refund'),
      user('refund', 'not-equals'),
    ].reduce((left, right) => both(left, 'and', right), leaf('request', 'body', 'not-contains', 'refund')),
  ],
];

t.test('texts are read as the filters that they stand for', async (t) => {
  for (const [text, filter] of READINGS) {
    t.strictSame(JSON.stringify(parseQuery(text)), JSON.stringify(filter), text);
    parseFilter(parseQuery(text));
    const printed = printQuery(parseQuery(text));
    t.strictSame(
      JSON.stringify(parseQuery(printed)),
      JSON.stringify(filter),
      `${text}, printed as ${printed}`,
    );
  }
});

/** Texts that are printed unchanged. */
const PRINTED = [
  'status:>=500 model:gpt-4o* -user:bot property.Plan:(pro OR team) (cost:>0.01 OR latency:>10s)',
  'scores.helpful:<3 has:feedback response.choices.0.finish_reason:length "refund policy" created:2026-11-01..2026-11-08',
  '-created:2026-11-01..2026-11-08 -has:session -refund',
  'refund OR user:a OR created:1..2',
  'created:1..2 user:a',
  '(user:a status:500) OR user:b',
  'user:a (user:b user:c)',
  'latency:>1500ms latency:0..1s ttft:-1',
  'model:llama3:8b model:"like:a" model:"null" values.n:("5" OR "null" OR 5 OR true)',
  'model:like:"a_%" model:~a*b model:~a model:ilike:"a" -model:"a b"*',
  'property."user tier":~"50 %" values.request.model:a values."":a request.body:~a response.a-b.0:1',
  '-status:>=500 * -has:id',
  `-model_used:gpt-4o api_key:(${KEY_ID} OR ${KEY_ID.replace('b', 'c')}) -has:error_code`,
  '-source:playground status:500',
];

t.test(
  'filters are printed in the shortest form, with units and names as they are usually written',
  async (t) => {
    for (const text of PRINTED) t.equal(printQuery(parseQuery(text)), text);
  },
);

/** Mistakes: the text with « » around the token, and the rule. */
const MISTAKES: [marked: string, rule: string | RegExp][] = [
  // Fields
  [
    '«foo»:1',
    /^is not a field: use one of id, created, user, .*response\.<field or path>; a text with a colon needs/,
  ],
  ['«https»://a.b', /^is not a field/],
  ['«Status»:500', /^is not a field/],
  ['«feedback.x»:true', /^is not a field/],
  ['«:»a', 'must have the name of a field before it'],
  ['has«:»', 'must have the name of a field behind it, as in has:feedback'],
  ['has:«foo»', /^is not a field/],
  ['«response.a..b»:1', 'response.a..b must not have an empty part between, before or after its dots'],

  // Values
  ['status«:»', /^must have a value right behind it: status:value, status:"a text", status:null$/],
  ['status«:>» 5', /^must have a value right behind it/],
  ['status:«abc»', 'status must be a number, but is "abc"'],
  ['status:«"500"»', 'status must be a number, but is "500"'],
  ['status:«200..abc»', 'status must be a number, but is "abc"'],
  ['status:>«null»', 'status must be a number, but is null'],
  ['status:«1e999»', /^status must be a number of at most/],
  [
    'latency:>«2x»',
    'latency must be a number, but is "2x" (milliseconds, or with a unit: 500ms, 10s, 2m, 1h)',
  ],
  ['cost:«1$»', 'cost must be a number, but is "1$" (US dollars: 0.01 or $0.01)'],
  ['feedback:«yes»', 'feedback must be true or false, but is "yes"'],
  ['created:«yesterday»', /^created must be an RFC 3339 timestamp/],
  ['user«:>»5', /^user: gt is not an operator of a text: use one of equals, not-equals, like/],
  ['status«:»5*', /^status: like is not an operator of a number/],
  ['api_key:«production»', 'api_key must be a UUID, but is "production"'],
  ['api_key«:»b6a0*', 'api_key: like is not an operator of a uuid: use one of equals, not-equals'],
  ['user:like:«"a\\\\"»', /^user must not end with a single/],
  [`user:«${'x'.repeat(10_001)}»`, 'user must have at most 10000 characters, but has 10001'],

  // Texts
  ['«ref*»', /^a text is found anywhere without a \*/],
  ['«""»', 'must not be empty'],
  ['a «or» b', 'is neither a text nor an operator: write OR, or "or" with quotation marks'],
  ['user:(a «or» b)', /^is neither a text/],
  ['a «&&» b', /^is neither a text nor an operator: write AND/],
  ['user:(a «||» b)', /write OR/],
  ['«status>=500»', 'a field needs a colon: status:>=500; a text needs quotation marks'],
  ['a «user="anna"»', /^a field needs a colon: user:=;/],
  ['«response.choices.0.x<5»', /^a field needs a colon/],
  ['«"abc»', /^the quotation mark is not closed/],
  ['user:"a«\\q»"', /^is not an escape: use/],
  ['user:"«\\u»12"', /^is not an escape/],

  // Groups
  ['a «(»b', 'the parenthesis is not closed'],
  ['a«)» b', 'closes no parenthesis'],
  ['(«)»', /^here must be a condition like status:>=500, a text, or a group in parentheses$/],
  ['user:(«)»', /^here must be/],
  ['a OR«»', /^here must be/],
  ['a OR «OR» b', /^here must be/],
  ['«AND» a', /^here must be/],
  ['NOT«»', /^here must be/],
  ['«-» a', /^must stand right before what it excludes/],
  ['status:500«(»a)', /^must have a space before it/],
  ['(a)«b»', /^must have a space before it/],
  [`${'('.repeat(64)}«(»`, 'must be at most 64 parentheses deep'],
];

t.test('a mistake is refused with its place, the token, the rule and what is allowed', async (t) => {
  for (const [marked, rule] of MISTAKES) {
    const offset = marked.indexOf('«');
    const text = marked.replace(/[«»]/g, '');
    const length = marked.indexOf('»') - offset - 1;
    const { error, filter } = readQueryText(text);
    t.equal(filter, null, text);
    t.strictSame({ offset: error?.offset, length: error?.length }, { offset, length }, text);
    t.match(error!.rule, rule, text);
    t.equal(error?.code, 'invalid_filter');
    t.ok(error!.message.startsWith(`q at offset ${offset}, length ${length} (`), error!.message);
  }
});

t.test('a text that is coloured has the kind and the place of each token, up to a mistake', async (t) => {
  const text = 'NOT (status:>=500 OR -user:bot) AND has:cost x property."a b":(p q) foo:1';
  const { tokens, error } = readQueryText(text);
  t.strictSame(
    tokens.map(({ kind, offset, length }) => `${kind} ${text.slice(offset, offset + length)}`),
    [
      ...['not NOT', 'open (', 'field status', 'operator :>=', 'value 500', 'or OR', 'not -', 'field user'],
      ...['operator :', 'value bot', 'close )', 'and AND', 'field has', 'operator :', 'field cost', 'text x'],
      ...['field property."a b"', 'operator :', 'open (', 'value p', 'value q', 'close )'],
    ],
  );
  t.equal(error?.offset, text.indexOf('foo'));
});

t.test('queries are read up to the limits of leaves and depth, and refused beyond', async (t) => {
  const list = (count: number, separator: string) =>
    Array.from({ length: count }, () => 'user:a').join(separator);
  for (const separator of [' ', ' OR ']) {
    for (const count of [MAX_DEPTH + 1, MAX_DEPTH + 2, MAX_LEAVES]) {
      const filter = parseQuery(list(count, separator));
      parseFilter(filter);
      t.equal(JSON.stringify(parseQuery(printQuery(filter))), JSON.stringify(filter), `${count} conditions`);
    }
    t.match(readQueryText(list(MAX_LEAVES + 1, separator)).error, {
      offset: MAX_LEAVES * `user:a${separator}`.length + 'user:'.length,
      rule: 'a query must have at most 500 conditions, of which a text alone is four',
    });
  }
  const nested = (depth: number) => `${'(user:a '.repeat(depth)}user:a${')'.repeat(depth)}`;
  parseFilter(parseQuery(nested(MAX_DEPTH)));
  t.match(readQueryText(`user:a ${nested(MAX_DEPTH)}`).error, {
    offset: 0,
    rule: 'must be at most 64 branches deep',
  });
  t.match(
    readQueryText('a '.repeat(126)).error,
    { offset: 250, length: 1 },
    'a text alone is four conditions',
  );
  const longest = printQuery(user('"'.repeat(10_000)));
  t.ok(longest.length < MAX_QUERY_LENGTH && parseQuery(longest), 'the longest text of a condition fits');
});

t.test('core/filter/query-text needs nothing that only Node has, and no package', async (t) => {
  const root = join(import.meta.dirname, '../../../../..');
  const seen = new Set<string>();
  const visit = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    const { imports } = readSource(path, readFileSync(join(root, path), 'utf8'));
    for (const { target, specifier } of imports) {
      if (target === null) t.fail(`${path} imports ${specifier}`);
      else visit(target);
    }
  };
  for (const file of ['mod.ts', 'print.ts']) visit(`core/filter/query-text/${file}`);
  t.ok(seen.size > 15, [...seen].join(' '));
  t.notOk(
    [...seen].some((path) => path.startsWith('core/json/')),
    'core/json makes Buffers when it is loaded',
  );
});
