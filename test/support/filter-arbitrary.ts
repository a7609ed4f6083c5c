/** Random filters and the records to run them on: from small pools, so that they meet. */
import fc from 'fast-check';
import { newRequestId } from '#platform/process/ids.ts';
import { asStored, type Decimal, type JsonFilter, type OracleRecord } from './filter-oracle.ts';
import type { SeedRequest } from './seed-requests.ts';

const TEXTS = [
  '',
  ' ',
  'a',
  'A',
  'ab',
  'aB',
  'abc',
  'ABC',
  'xabcx',
  'a b',
  'a_b',
  'axb',
  'a%b',
  '100%',
  '100x',
  '%',
  '_',
  '\\',
  'back\\slash',
  '\\%',
  '\\_',
  'a\\',
  '"',
  '"quoted"',
  "it's",
  "'; drop table requests; --",
  '$1',
  '{}',
  'null',
  '1',
  'ÄÖÜ',
  'äöü',
  'straße',
  'STRASSE',
  'İstanbul',
  'istanbul',
  'ΣΑΣ',
  'σας',
  'Éa',
  'éa',
  'e\u0301',
  '日本語',
  '😀',
  '😀a',
  'a😀b',
  'a\nb',
  'tab\t',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udc00b',
  '\ufffd',
  'a\ufffdb',
  '\u2028',
  'ﬁ',
  'K',
  'k',
];
const PATTERNS = [
  '%',
  '_',
  '__',
  'a%',
  '%a',
  '%a%',
  'a_b',
  'a\\_b',
  'a\\%b',
  '%\\\\%',
  '_%_',
  '😀_',
  '%ß%',
  '\\a',
  'A%',
];
const NAMES = [
  'plan',
  'Plan',
  'PLAN',
  'user-tier',
  'naïve',
  'NAÏVE',
  '',
  'a.b',
  '__proto__',
  'constructor',
  'x"y',
  'a\u0000',
];
const SCORE_KEYS = ['quality', 'Quality', 'a b', '__proto__', '"'];
const NUMBERS = [
  0,
  -0,
  1,
  -1,
  2,
  3.5,
  0.1,
  0.2,
  0.1 + 0.2,
  12,
  12.5,
  -12.5,
  100,
  199.999,
  200,
  200.5,
  404,
  500,
  1e3,
  1e6,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 53 + 2,
  2 ** 63,
  -(2 ** 63),
  1e21,
  1e308,
  -1e308,
  5e-324,
];
const COSTS_NANO = [0n, 1n, 150n, 100_000_000n, 123_456_789n, 1_000_000_000n, 9_223_372_036_854_775_807n];
const COSTS_USD = [
  0,
  1e-9,
  1.5e-9,
  1.5e-7,
  0.1,
  0.100000001,
  0.1000000005,
  0.123456789,
  1,
  2 ** 33,
  1e10,
  -1,
];
const BASE_MS = Date.UTC(2026, 4, 4, 12);
const MOMENTS = [0, 1, 2, 999, 1000, 86_400_000].map((offset) => BASE_MS + offset);
const PATHS = [
  'a',
  'b',
  'a.b',
  'a.0',
  'a.1',
  'a.0.b',
  'a.-1',
  'a.01',
  'a.+1',
  'a. 1',
  'a.99999999999',
  'é',
  'x"y',
  "it's",
  '__proto__',
];

const KEY_IDS = [
  '00000000-0000-0000-0000-000000000000',
  'b6a02fa1-2b2d-40c5-95e1-93b528d8b55b',
  'ffffffff-ffff-4fff-bfff-ffffffffffff',
];

/** All but `evaluator`, whose calls no list shows. */
const SOURCES = ['gateway', 'api', 'playground'];

const pick = <T>(values: readonly T[]) => fc.constantFrom(...values);
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 3, nil: null });

const text = fc.oneof(
  { weight: 4, arbitrary: pick(TEXTS) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
);
const number = fc.oneof(
  { weight: 4, arbitrary: pick(NUMBERS) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
);
const cost = fc.oneof(pick(COSTS_USD), number);
/** Never ends with a `\` that escapes nothing: that is an error. */
const pattern = fc
  .oneof(
    pick(PATTERNS),
    text,
    fc.array(pick(['%', '_', '\\', 'a', 'B', 'ä', '😀']), { maxLength: 6 }).map((parts) => parts.join('')),
  )
  .map((given) => (/(?<!\\)(?:\\\\)*\\$/.test(given) ? `${given}\\` : given));

function offsetForm(ms: number): string {
  return `${new Date(ms + 2 * 3_600_000).toISOString().slice(0, -1)}+02:00`;
}
const moment = pick(MOMENTS).chain((ms) =>
  pick<string | number>([
    ms,
    ms + 0.5,
    ms - 1,
    new Date(ms).toISOString(),
    offsetForm(ms),
    new Date(ms).toISOString().replace('Z', '9z'),
  ]),
);

const equality = (operand: fc.Arbitrary<unknown>) =>
  fc.tuple(pick(['equals', 'not-equals']), orNull(operand));
const ordering = (operand: fc.Arbitrary<unknown>) =>
  fc.tuple(pick(['gte', 'lte', 'gt', 'lt', 'not-gte', 'not-lte', 'not-gt', 'not-lt']), operand);
const matching = fc.oneof(
  fc.tuple(pick(['like', 'ilike', 'not-like', 'not-ilike']), pattern),
  fc.tuple(pick(['contains', 'not-contains']), text),
);
const COMPARISONS = {
  text: fc.oneof(equality(text), matching),
  number: fc.oneof(equality(number), ordering(number)),
  cost: fc.oneof(equality(cost), ordering(cost)),
  moment: fc.oneof(equality(moment), ordering(moment)),
  boolean: equality(fc.boolean()),
  uuid: equality(pick(KEY_IDS)),
  source: fc.oneof(equality(fc.oneof(pick(SOURCES), text)), matching),
  value: fc.oneof(equality(fc.oneof(text, number, fc.boolean())), ordering(number), matching),
};

const FIELDS: [section: string, field: string, keyof typeof COMPARISONS][] = [
  ['request', 'created_at', 'moment'],
  ['request', 'user_id', 'text'],
  ['request', 'path', 'text'],
  ['request', 'model', 'text'],
  ['request', 'model_used', 'text'],
  ['request', 'provider', 'text'],
  ['request', 'api_key_id', 'uuid'],
  ['request', 'source', 'source'],
  ['request', 'prompt_id', 'text'],
  ['request', 'prompt_version', 'text'],
  ['request', 'session_id', 'text'],
  ['request', 'session_name', 'text'],
  ['request', 'session_path', 'text'],
  ['request', 'body', 'text'],
  ['response', 'id', 'text'],
  ['response', 'created_at', 'moment'],
  ['response', 'status', 'number'],
  ['response', 'error_code', 'text'],
  ['response', 'model', 'text'],
  ['response', 'latency', 'number'],
  ['response', 'time_to_first_token', 'number'],
  ['response', 'prompt_tokens', 'number'],
  ['response', 'completion_tokens', 'number'],
  ['response', 'total_tokens', 'number'],
  ['response', 'cost', 'cost'],
  ['response', 'body', 'text'],
  ['feedback', 'rating', 'boolean'],
  ['feedback', 'created_at', 'moment'],
];

const asLeaf = (section: string, field: fc.Arbitrary<string>, comparison: fc.Arbitrary<[string, unknown]>) =>
  fc.tuple(field, comparison).map(([name, [operator, operand]]): JsonFilter => {
    const leaf = Object.fromEntries([[name, { [operator]: operand }]]);
    return { [section]: leaf } as JsonFilter;
  });

const leaf: fc.Arbitrary<JsonFilter> = fc.oneof(
  {
    weight: 5,
    arbitrary: pick(FIELDS).chain(([section, field, type]) =>
      asLeaf(section, fc.constant(field), COMPARISONS[type]),
    ),
  },
  { weight: 2, arbitrary: asLeaf('properties', pick(NAMES), COMPARISONS.text) },
  { weight: 1, arbitrary: asLeaf('scores', pick(SCORE_KEYS), COMPARISONS.number) },
  {
    weight: 2,
    arbitrary: asLeaf(
      'values',
      fc.tuple(pick(['request.', 'response.']), pick(PATHS)).map(([body, path]) => body + path),
      COMPARISONS.value,
    ),
  },
  { weight: 1, arbitrary: asLeaf('values', pick([...NAMES, 'request', 'response']), COMPARISONS.value) },
);

/** A filter: mostly single leaves and small trees. */
export const filterArbitrary: fc.Arbitrary<JsonFilter> = fc.letrec<{
  filter: JsonFilter;
  branch: JsonFilter;
}>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    { weight: 6, arbitrary: leaf },
    { weight: 3, arbitrary: tie('branch') },
    { weight: 1, arbitrary: pick<JsonFilter>(['all', {}]) },
  ),
  branch: fc.record({
    left: tie('filter'),
    operator: pick(['and', 'or'] as const),
    right: tie('filter'),
  }) as fc.Arbitrary<JsonFilter>,
})).filter;

const stored = text.map(asStored);
const json: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 5, arbitrary: fc.oneof(stored, number, fc.boolean(), fc.constant(null)) },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    { weight: 2, arbitrary: jsonObject(tie('value')) },
  ),
})).value;
function jsonObject(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const names = pick(['a', 'b', '0', '1', '-1', '01', 'é', 'x"y', "it's", '__proto__']);
  return fc.array(fc.tuple(names, value), { maxLength: 5 }).map((entries) => Object.fromEntries(entries));
}
const body = fc.dictionary(pick(['a', 'b', 'é', 'x"y', "it's"]), json, { maxKeys: 4 });

const whole = orNull(pick([0, 1, 2, 12, 13, 100, 199, 200, 201, 404, 500, 2 ** 31 - 1]));
const momentOrNull = orNull(pick(MOMENTS));
const named = <T>(names: string[], value: fc.Arbitrary<T>) =>
  fc.uniqueArray(fc.tuple(pick(names.map(asStored)), value), {
    maxLength: 4,
    selector: ([name]) => name.toLowerCase(),
  });

const recordArbitrary = fc.record({
  createdAt: pick(MOMENTS),
  respondedAt: momentOrNull,
  ratedAt: momentOrNull,
  rating: orNull(fc.boolean()),
  texts: fc.array(orNull(stored), { minLength: 10, maxLength: 10 }),
  path: stored,
  modelUsed: stored,
  apiKeyId: orNull(pick(KEY_IDS)),
  source: pick(SOURCES),
  provider: pick(['OPENAI', 'ANTHROPIC']),
  status: pick([100, 199, 200, 201, 404, 500]),
  wholes: fc.array(whole, { minLength: 5, maxLength: 5 }),
  costNano: orNull(pick(COSTS_NANO)),
  properties: named(NAMES, stored),
  scores: named(SCORE_KEYS, pick(NUMBERS)),
  inputs: orNull(named([...NAMES, 'request', 'response'], json)),
  requestBody: body,
  responseBody: body,
});

type Generated = typeof recordArbitrary extends fc.Arbitrary<infer T> ? T : never;

function usd(nano: bigint): Decimal {
  const digits = nano.toString().padStart(10, '0');
  return { decimal: `${digits.slice(0, -9)}.${digits.slice(-9)}` };
}
const decimal = (value: number | null | undefined): Decimal | null =>
  value == null ? null : { decimal: String(value) };
const at = (ms: number | null) => (ms === null ? null : { ms });
const date = (ms: number | null) => (ms === null ? null : new Date(ms));

/** A generated record, as the store takes it and as the oracle does. */
export function toRecord(generated: Generated): { seed: Partial<SeedRequest>; record: OracleRecord } {
  const [userId, requestModel, promptId, promptVersion, responseId, responseModel, ...session] =
    generated.texts as (string | null)[];
  const [sessionId, sessionName, sessionPath, errorCode] = session;
  const [latency, ttft, promptTokens, completionTokens, totalTokens] = generated.wholes as (number | null)[];
  const requestText = JSON.stringify(generated.requestBody);
  const responseText = JSON.stringify(generated.responseBody);
  const properties = Object.fromEntries(generated.properties);
  const scores = Object.fromEntries(generated.scores);
  const inputs = generated.inputs === null ? null : Object.fromEntries(generated.inputs);
  const request_id = newRequestId(generated.createdAt);
  return {
    seed: {
      request_id,
      created_at: new Date(generated.createdAt),
      response_created_at: date(generated.respondedAt),
      feedback_created_at: date(generated.ratedAt),
      feedback_rating: generated.rating,
      user_id: userId!,
      request_model: requestModel!,
      prompt_id: promptId!,
      prompt_version: promptVersion!,
      session_id: sessionId!,
      session_name: sessionName!,
      session_path: sessionPath!,
      response_id: responseId!,
      response_model: responseModel!,
      model: generated.modelUsed,
      api_key_id: generated.apiKeyId,
      source: generated.source,
      error_code: errorCode!,
      path: generated.path,
      provider: generated.provider,
      status: generated.status,
      latency_ms: latency!,
      ttft_ms: ttft!,
      prompt_tokens: promptTokens!,
      completion_tokens: completionTokens!,
      total_tokens: totalTokens!,
      cost_nano: generated.costNano as never,
      properties: generated.properties.length === 0 ? null : properties,
      scores,
      inputs,
      request_text: requestText,
      response_text: responseText,
    },
    record: {
      request: {
        id: request_id,
        created_at: at(generated.createdAt),
        user_id: userId!,
        path: generated.path,
        model: requestModel!,
        model_used: generated.modelUsed,
        api_key_id: generated.apiKeyId,
        source: generated.source,
        provider: generated.provider,
        prompt_id: promptId!,
        prompt_version: promptVersion!,
        session_id: sessionId!,
        session_name: sessionName!,
        session_path: sessionPath!,
        body: requestText,
      },
      response: {
        id: responseId!,
        created_at: at(generated.respondedAt),
        status: decimal(generated.status),
        error_code: errorCode!,
        model: responseModel!,
        latency: decimal(latency),
        time_to_first_token: decimal(ttft),
        prompt_tokens: decimal(promptTokens),
        completion_tokens: decimal(completionTokens),
        total_tokens: decimal(totalTokens),
        cost: generated.costNano === null ? null : usd(generated.costNano),
        body: responseText,
      },
      feedback: { rating: generated.rating, created_at: at(generated.ratedAt) },
      properties,
      scores,
      // What the store holds is what a reader of its text gets.
      requestBody: JSON.parse(requestText),
      responseBody: JSON.parse(responseText),
      inputs: JSON.parse(JSON.stringify(inputs ?? {})),
    },
  };
}

/** Some records, the same for the same seed. */
export function sampleRecords(count: number, seed: number): ReturnType<typeof toRecord>[] {
  return fc.sample(recordArbitrary, { numRuns: count, seed }).map(toRecord);
}
