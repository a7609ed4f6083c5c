/** Filters that are refused, and the sentences that say why. */
import t from 'tap';
import { AssayError } from '#core/contracts/errors.ts';
import { parseFilter } from '#core/filter/mod.ts';

const LEAF = { request: { model: { equals: 'gpt-4o' } } };

/** What each wrong filter is told. Reads: filter, sentence. */
const REFUSALS: [what: string, filter: unknown, sentence: string][] = [
  // What a filter is
  ['nothing', undefined, 'filter must be "all", a leaf or a branch, but is undefined'],
  ['null', null, 'filter must be "all", a leaf or a branch, but is null'],
  ['another word', 'none', 'filter must be "all", a leaf or a branch, but is "none"'],
  [
    'a list',
    [LEAF],
    'filter must be "all", a leaf or a branch, but is [{"request":{"model":{"equals":"gpt-4o"}}}]',
  ],

  // Patterns
  [
    'a pattern that ends with one of many backslashes',
    { request: { model: { like: `x${'\\'.repeat(9_999)}` } } },
    'filter.request.model.like must not end with a single \\',
  ],

  // Sections
  [
    'an unknown section',
    { reqest: { model: { equals: 'a' } } },
    'filter.reqest is not a section: use one of request, response, properties, feedback, values, scores, or a branch of left, operator and right',
  ],
  [
    'a section with an odd name',
    { 'a.b': {} },
    'filter["a.b"] is not a section: use one of request, response, properties, feedback, values, scores, or a branch of left, operator and right',
  ],
  [
    'two sections',
    { request: { model: { equals: 'a' } }, response: { status: { equals: 200 } } },
    'filter must hold one section, but holds 2 ("request", "response"): combine leaves with {"left": …, "operator": "and", "right": …}',
  ],
  [
    'a section that is no object',
    { request: 'gpt-4o' },
    'filter.request must be an object with one field, but is "gpt-4o"',
  ],

  // Fields
  [
    'no field',
    { request: {} },
    'filter.request must hold one field, but is empty: use one of id, created_at, user_id, path, model, model_used, provider, api_key_id, source, prompt_id, prompt_version, session_id, session_name, session_path, body',
  ],
  [
    'two fields',
    { response: { status: { gte: 400 }, latency: { gt: 1 } } },
    'filter.response must hold one field, but holds 2 ("status", "latency"): combine leaves with {"left": …, "operator": "and", "right": …}',
  ],
  [
    'an unknown field',
    { request: { modle: { equals: 'a' } } },
    'filter.request.modle is not a field of request: use one of id, created_at, user_id, path, model, model_used, provider, api_key_id, source, prompt_id, prompt_version, session_id, session_name, session_path, body',
  ],
  [
    'a field of another section',
    { request: { status: { equals: 200 } } },
    'filter.request.status is not a field of request: use one of id, created_at, user_id, path, model, model_used, provider, api_key_id, source, prompt_id, prompt_version, session_id, session_name, session_path, body',
  ],
  [
    'a name that objects have anyway',
    { response: { constructor: { equals: 1 } } },
    'filter.response.constructor is not a field of response: use one of id, created_at, status, error_code, model, latency, time_to_first_token, prompt_tokens, completion_tokens, total_tokens, cost, body',
  ],
  [
    'no property',
    { properties: {} },
    'filter.properties must hold one field, but is empty: name one of properties',
  ],
  [
    'a path with an empty part',
    { values: { 'response.choices..role': { equals: 'a' } } },
    'filter.values["response.choices..role"] must not have an empty part between, before or after its dots',
  ],
  [
    'a path that goes too deep',
    { values: { [`request.${'a.'.repeat(64)}a`]: { equals: 'a' } } },
    `filter.values["request.${'a.'.repeat(35)}a…] must be at most 64 levels deep, but is 65`,
  ],

  // Operators
  [
    'no operator',
    { request: { model: {} } },
    'filter.request.model must hold one operator, but is empty: for example {"equals": …}',
  ],
  [
    'two operators',
    { response: { latency: { gt: 1, lt: 2 } } },
    'filter.response.latency must hold one operator, but holds 2 ("gt", "lt"): combine leaves with {"left": …, "operator": "and", "right": …}',
  ],
  [
    'a value where an operator belongs',
    { request: { model: 'gpt-4o' } },
    'filter.request.model must be an object with one operator, but is "gpt-4o"',
  ],
  [
    'an unknown operator',
    { request: { model: { is: 'a' } } },
    'filter.request.model.is is not an operator of a text: use one of equals, not-equals, like, ilike, contains, not-contains, not-like, not-ilike',
  ],
  [
    'an order of text',
    { request: { user_id: { gt: 'a' } } },
    'filter.request.user_id.gt is not an operator of a text: use one of equals, not-equals, like, ilike, contains, not-contains, not-like, not-ilike',
  ],
  [
    'a part of a number',
    { response: { status: { contains: '20' } } },
    'filter.response.status.contains is not an operator of a number: use one of equals, not-equals, gte, lte, gt, lt, not-gte, not-lte, not-gt, not-lt',
  ],
  [
    'a part of a timestamp',
    { request: { created_at: { like: '2026%' } } },
    'filter.request.created_at.like is not an operator of a timestamp: use one of equals, not-equals, gte, lte, gt, lt, not-gte, not-lte, not-gt, not-lt',
  ],
  [
    'an order of ratings',
    { feedback: { rating: { gte: true } } },
    'filter.feedback.rating.gte is not an operator of a boolean: use one of equals, not-equals',
  ],
  [
    'a word that is close',
    { values: { city: { equal: 'Oslo' } } },
    'filter.values.city.equal is not an operator of a value: use one of equals, not-equals, gte, lte, gt, lt, like, ilike, contains, not-contains, not-gte, not-lte, not-gt, not-lt, not-like, not-ilike',
  ],

  // Operands
  [
    'a number for a text',
    { request: { user_id: { equals: 5 } } },
    'filter.request.user_id.equals must be a string, but is 5',
  ],
  [
    'a text for a number',
    { response: { status: { equals: '200' } } },
    'filter.response.status.equals must be a number, but is "200"',
  ],
  [
    'an order with null',
    { response: { latency: { gt: null } } },
    'filter.response.latency.gt must be a number, but is null',
  ],
  [
    'a pattern of null',
    { request: { model: { contains: null } } },
    'filter.request.model.contains must be a string, but is null',
  ],
  [
    'a pattern of an id',
    { request: { api_key_id: { like: 'b6%' } } },
    'filter.request.api_key_id.like is not an operator of a uuid: use one of equals, not-equals',
  ],
  [
    'the name of a key where its id belongs',
    { request: { api_key_id: { equals: 'production' } } },
    'filter.request.api_key_id.equals must be a UUID, but is "production"',
  ],
  [
    'a number beyond all numbers',
    JSON.parse('{"response": {"cost": {"lt": 1e400}}}'),
    'filter.response.cost.lt must be a number of at most 1.7976931348623157e308, but is larger',
  ],
  [
    'a word for a boolean',
    { feedback: { rating: { equals: 'true' } } },
    'filter.feedback.rating.equals must be true or false, but is "true"',
  ],
  [
    'a list for a value',
    { values: { 'request.stop': { equals: ['a'] } } },
    'filter.values["request.stop"].equals must be a string, a number, true, false or null, but is ["a"]',
  ],
  [
    'an order of texts in a body',
    { values: { city: { gt: 'a' } } },
    'filter.values.city.gt must be a number, but is "a"',
  ],
  [
    'a part of a number in a body',
    { values: { n: { contains: 4 } } },
    'filter.values.n.contains must be a string, but is 4',
  ],
  [
    'a pattern that ends in the middle of an escape',
    { request: { path: { like: '100\\' } } },
    'filter.request.path.like must not end with a single \\: write \\\\ for a backslash, but is "100\\\\"',
  ],

  // Timestamps
  ...[
    'yesterday',
    '2026-01',
    '2026-02-30',
    '2026-1-31',
    ' 2026-01-31',
    '2026-01-31Z',
    '2026-01-31T12:00:00',
    '2026-02-30T00:00:00Z',
    '2026-01-31T25:00:00Z',
    '0000-12-31T00:00:00Z',
  ].map((text): [string, unknown, string] => [
    `the timestamp ${text}`,
    { request: { created_at: { gte: text } } },
    `filter.request.created_at.gte must be an RFC 3339 timestamp like "2026-01-31T12:00:00.000Z", a date like "2026-01-31" or milliseconds since the epoch, in the years 0001 to 9999, but is "${text}"`,
  ]),
  [
    'a moment after all years',
    { feedback: { created_at: { lt: 1e15 } } },
    'filter.feedback.created_at.lt must be an RFC 3339 timestamp like "2026-01-31T12:00:00.000Z", a date like "2026-01-31" or milliseconds since the epoch, in the years 0001 to 9999, but is 1000000000000000',
  ],

  // Branches
  ['a branch without a right', { left: 'all', operator: 'and' }, 'filter.right is required in a branch'],
  ['a branch without an operator', { left: 'all', right: 'all' }, 'filter.operator is required in a branch'],
  [
    'another operator of logic',
    { left: 'all', operator: 'xor', right: 'all' },
    'filter.operator must be "and" or "or", but is "xor"',
  ],
  [
    'upper case',
    { left: 'all', operator: 'AND', right: 'all' },
    'filter.operator must be "and" or "or", but is "AND"',
  ],
  [
    'a branch with a leaf in it',
    { left: 'all', operator: 'and', right: 'all', request: {} },
    'filter.request is not a field of a branch: it holds left, operator and right only',
  ],
  [
    'a mistake deep inside',
    {
      left: LEAF,
      operator: 'or',
      right: { left: LEAF, operator: 'and', right: { response: { status: { gt: 'x' } } } },
    },
    'filter.right.right.response.status.gt must be a number, but is "x"',
  ],
];

t.test('an invalid filter is refused with the place, the rule and the allowed values', (t) => {
  for (const [what, filter, sentence] of REFUSALS) {
    const expected = new AssayError('invalid_filter', sentence);
    t.throws(() => parseFilter(filter), { code: 'invalid_filter', message: expected.message }, what);
  }
  t.end();
});
