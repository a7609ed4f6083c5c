/** The scanned usage of a response against the whole response, parsed. */
import fc from 'fast-check';
import t from 'tap';
import { answerSkeleton, assembleStream, readUsage } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { hasUsageAtEnd, scanUsage } from '../../../../gateway/limits/scan-usage.ts';
import type { Outcome } from '../../../../gateway/request/call.ts';
import { isReadAhead, withCompletion } from '../../../../gateway/response/read-completion.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { runs } from '../../../support/fuzz-runs.ts';

const RUNS = 4_000;

const outcomeOf = (text: string, given: Partial<Outcome> = {}): Outcome => ({
  status: 200,
  responseBody: Buffer.from(text),
  contentType: 'application/json',
  contentEncoding: null,
  stream: false,
  ttftMs: null,
  truncated: false,
  errorCode: null,
  ...given,
});

/** The values that a limit in cents takes from a response. */
const told = (answer: JsonObject) => JSON.stringify([answer.usage, answer.model, readUsage(answer)]);

/** Returns whether the scanned usage of a response equals that of the parsed one. */
function isExact(text: string): boolean {
  const bill = scanUsage(outcomeOf(text));
  return bill !== null && told(bill) === told(JSON.parse(text) as JsonObject);
}

/** Names and texts that could be taken for the searched members. */
const WORDS = [
  'usage',
  'model',
  '"usage"',
  '"model":"x"',
  '\\"usage',
  '"model":"m","usage":{"prompt_tokens":1}}',
  '{',
  '}',
  '[',
  ']',
  '\\',
  '\\\\"model',
  'é',
  '模型',
  '😀',
  '',
];
const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...WORDS) },
  fc.string({ unit: anyCharacter, maxLength: 8 }),
);
const name = fc.oneof(
  { weight: 3, arbitrary: word },
  fc.constantFrom('choices', 'id', 'prompt_tokens', '__proto__', 'constructor'),
);

/** A JSON string, some of its characters written as escapes. */
const written = (text: string) =>
  fc.array(fc.constantFrom(false, false, false, true), { minLength: 8, maxLength: 8 }).map((escapes) => {
    const escaped = (character: string, at: number) =>
      escapes[at % escapes.length] === true
        ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
        : JSON.stringify(character).slice(1, -1);
    return `"${text.split('').map(escaped).join('')}"`;
  });
const plainly = (text: string) => fc.constant(JSON.stringify(text));
const string = (text: string) => fc.oneof({ weight: 5, arbitrary: plainly(text) }, written(text));
const space = fc.constantFrom('', '', ' ', '\n  ', '\t');

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    word.chain(string),
    fc.constantFrom('null', 'true', '0', '17', '-1.5e3'),
    fc
      .tuple(fc.array(tie('value'), { maxLength: 3 }), space)
      .map(([items, gap]) => `[${gap}${items.join(`,${gap}`)}]`),
    fc.array(fc.tuple(name.chain(string), tie('value')), { maxLength: 3 }).map(objectOf),
  ),
}));

function objectOf(members: readonly (readonly [name: string, value: string])[], gap = ''): string {
  return `{${gap}${members.map(([name, value]) => `${name}${gap}:${gap}${value}`).join(`,${gap}`)}${gap}}`;
}

/** Members in any order, some of them twice, some far from the others. */
const longText = fc.constantFrom('x', 'usage ', '\\"').map((text) => `"${text.repeat(300)}"`);
const answers = fc
  .tuple(
    fc.array(
      fc.tuple(
        fc.oneof({ weight: 2, arbitrary: name }, fc.constantFrom('usage', 'model', 'model')).chain(string),
        fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: longText }),
      ),
      { maxLength: 7 },
    ),
    space,
    space,
  )
  .map(([members, gap, around]) => `${around}${objectOf(members, gap)}${around}`);

t.test(
  'scanUsage finds the usage and model that parsing the whole response gives, whatever else it holds',
  async (t) => {
    let found = 0;
    const parameters = runs(t, RUNS);
    fc.assert(
      fc.property(answers, (text) => {
        const whole = JSON.parse(text) as { usage?: unknown; model?: unknown };
        if (whole.usage !== undefined && typeof whole.model === 'string') found += 1;
        return isExact(text);
      }),
      parameters,
    );
    t.ok(found > parameters.numRuns / 20, `${found} with both`);
  },
);

t.test('the tier of service is found wherever a response or a stream names it', async (t) => {
  const far = `"text":"${'x'.repeat(2_000)}"`;
  const usage = '"usage":{"prompt_tokens":3,"completion_tokens":4}';
  const inputUsage = '"usage":{"input_tokens":3,"output_tokens":4}';
  for (const text of [
    `{"model":"m",${far},${usage},"service_tier":"flex"}`,
    `{"service_tier":"flex","model":"m",${far},${usage}}`,
    `{"model":"m",${far},"service_tier": "priority",${far},${inputUsage}}`,
    `{"model":"m","service_tier":"flex",${usage}}`,
    `{"model":"m","service_tier":"default",${far},${usage}}`,
    `{"model":"m","tools":[{"service_tier":"flex"}],${far},${usage}}`,
    `{"model":"m","service_tier":"flex","service_tier":"default",${far},${usage}}`,
  ])
    t.ok(isExact(text), text.replaceAll('x', ''));
  const chunk = (more: string) =>
    `data: {"id":"1","object":"chat.completion.chunk","model":"m","service_tier":"flex","choices":[]${more}}\n\n`;
  const stream = `${chunk('')}${chunk(`,${usage}`)}data: [DONE]\n\n`;
  t.match(readUsage(scanUsage(outcomeOf(stream, { stream: true }))!), { promptTokens: 3, tier: 'flex' });
});

/** More than what is read of a response at once. */
const PADDING = `"padding":"${'x'.repeat(64 * 1024)}"`;

t.test(
  'of a large response, packed or not, the usage, model and skeleton are those of all of it',
  async (t) => {
    const { gzipSync } = await import('node:zlib');
    await fc.assert(
      fc.asyncProperty(answers, fc.boolean(), async (text, isPacked) => {
        const body = Buffer.from(
          text.replace('{', /^\s*\{\s*\}/.test(text) ? `{${PADDING}` : `{${PADDING},`),
        );
        const packed = isPacked ? { responseBody: gzipSync(body), contentEncoding: 'gzip' } : {};
        const outcome = outcomeOf('', { responseBody: body, ...packed });
        const whole = JSON.parse(body.toString()) as JsonObject;
        const completion = isReadAhead(outcome) ? scanUsage(await withCompletion(outcome)) : null;
        return (
          completion !== null &&
          told(completion) === told(whole) &&
          JSON.stringify(answerSkeleton(completion)) === JSON.stringify(answerSkeleton(whole))
        );
      }),
      runs(t, RUNS / 10),
    );
  },
);

/** An answer of each surface, in the order in which its provider writes it, with a text in it. */
const OF_SURFACES: Record<string, (text: unknown) => object> = {
  'a chat completion': (content) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-4o-mini',
    choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 0 } },
    service_tier: 'default',
  }),
  'a completion': (text) => ({
    id: 'cmpl-1',
    model: 'gpt-3.5-turbo-instruct',
    choices: [{ text, index: 0 }],
    usage: { prompt_tokens: 3, completion_tokens: 4 },
  }),
  'a response': (text) => ({
    id: 'resp_1',
    billing: { payer: 'developer' },
    error: null,
    model: 'gpt-4.1',
    output: [{ type: 'message', content: [{ type: 'output_text', text, annotations: [] }] }],
    usage: { input_tokens: 3, output_tokens: 4 },
    user: null,
    metadata: {},
  }),
  'a message': (text) => ({
    model: 'claude-sonnet-4-5',
    id: 'msg_1',
    type: 'message',
    content: [{ type: 'tool_use', input: text }],
    usage: { input_tokens: 3, output_tokens: 4, cache_creation: { ephemeral_1h_input_tokens: 0 } },
  }),
  embeddings: (text) => ({
    object: 'list',
    data: [{ embedding: Array.from({ length: 200 }, (_, at) => at / 7), text }],
    model: 'text-embedding-3-small',
    usage: { prompt_tokens: 8, total_tokens: 8 },
  }),
};

for (const [what, answerOf] of Object.entries(OF_SURFACES)) {
  t.test(`scanUsage is exact for ${what}, whatever its text or tool input holds`, async (t) => {
    const texts = fc.oneof(
      fc.array(word, { maxLength: 40 }).map((words) => words.join(' ')),
      fc.json().map((json) => JSON.parse(json) as unknown),
      value.map((json) => JSON.parse(json) as unknown),
    );
    fc.assert(
      fc.property(texts, fc.constantFrom(undefined, 2), (text, indent) =>
        isExact(JSON.stringify(answerOf(text), null, indent)),
      ),
      runs(t, RUNS / 4),
    );
  });

  t.test(`scanUsage parses only the ends of ${what}`, async (t) => {
    const text = JSON.stringify(answerOf('Hello. '.repeat(200)));
    const parse = t.capture(JSON, 'parse', JSON.parse);
    scanUsage(outcomeOf(text));
    const parsed = parse().reduce((sum, { args }) => sum + String(args[0]).length, 0);
    t.ok(parsed < 400, `${parsed} of ${text.length} characters`);
  });
}

t.test('scanUsage finds a member whose name is written with an escape', async (t) => {
  for (const text of [
    '{"model":"a","mod\\u0065l":"b","usage":{}}',
    `{"model":"a","x":"${'x'.repeat(1_000)}","usage":{},"mod\\u0065l":"b"}`,
    `{"model":"a","\\u006Dodel":"b","x":"${'x'.repeat(1_000)}","usage":{}}`,
    '{"model":"a","usage":{"n":1},"us\\u0061ge":{"n":2}}',
    '{"us\\u0061ge":{"n":1},"x":{"usage":{"n":2}},"model":"a"}',
  ]) {
    t.ok(isExact(text), text);
  }
});

t.test('scanUsage reads usage of the prompt alone as parsing the whole response does', async (t) => {
  for (const text of [
    '{"model":"a","choices":[],"usage":{"prompt_tokens":3}}',
    '{"model":"a","choices":[],"usage":{"prompt_tokens":3,"total_tokens":3}}',
    '{"model":"a","data":[],"usage":{"prompt_tokens":3}}',
  ]) {
    t.ok(isExact(text), text);
  }
});

t.test('scanUsage returns null for a body that is no JSON object', async (t) => {
  for (const text of ['', 'no JSON', '[{"usage":{}}]', '"usage"', '{"usage":{}', '{"model":"m","usage":']) {
    t.equal(scanUsage(outcomeOf(text)), null, text);
  }
});

/** Chunks as providers send them and as none should, with the text around them. */
const chunk = fc.record(
  {
    id: fc.constant('c'),
    type: fc.constantFrom('message_start', 'response.completed', 'x'),
    object: fc.constantFrom('chat.completion.chunk', 'text_completion'),
    model: fc.constantFrom('a', 'b', '', null, 7),
    choices: fc.constantFrom(
      [],
      [{ index: 0, delta: { content: '"usage":{}' }, finish_reason: null }],
      [{ index: 0, text: 'data: {"usage":{}}\n\n', usage: { prompt_tokens: 5 } }],
    ),
    usage: fc.constantFrom(
      null,
      '',
      {},
      { prompt_tokens: 3 },
      { prompt_tokens: 1, total_tokens: 2, usage: null },
    ),
    message: fc.constant({ model: 'm', usage: { input_tokens: 1 } }),
    response: fc.constant({ model: 'r', usage: { input_tokens: 2 } }),
  },
  { requiredKeys: [] },
);
const event = fc
  .tuple(
    fc.constantFrom('', '', '', 'event: message_start\n', ': comment\n', 'id: 1\n'),
    fc.oneof(
      { weight: 8, arbitrary: chunk.map((value) => JSON.stringify(value)) },
      fc.constantFrom('[DONE]', '{"usage":{"prompt_tokens":9}', '{"us\\u0061ge":{"prompt_tokens":8}}', ''),
    ),
    fc.constantFrom('\n\n', '\n\n', '\n\n', '\r\n\r\n', '\n', '\n\n\n'),
  )
  .map(([before, data, after]) => `${before}data: ${data}${after}`);
const END = `data: {"model":"a","choices":[],"usage":{"prompt_tokens":3,"total_tokens":4}}\n\ndata: [DONE]\n\n`;
const BEGINNING = `data: {"model":"a","choices":[{"index":0,"delta":{"content":""}}]}\n\n`;
const streams = fc
  .tuple(
    fc.constantFrom('', BEGINNING, BEGINNING, ': comment\n\n'),
    fc.array(event, { maxLength: 5 }),
    fc.constantFrom('', END, END),
  )
  .map(([beginning, events, end]) => beginning + events.join('') + end);
const STREAMED = { stream: true, contentType: 'text/event-stream' };

t.test('scanUsage finds the usage and model of any stream that assembling it gives', async (t) => {
  let quick = 0;
  const parameters = runs(t, RUNS);
  fc.assert(
    fc.property(streams, (text) => {
      const bill = scanUsage(outcomeOf(text, STREAMED));
      if (bill !== null && Object.keys(bill).length === 2) quick += 1;
      return bill !== null && told(bill) === told(assembleStream(text).completion);
    }),
    parameters,
  );
  t.ok(quick > parameters.numRuns / 20, `${quick} by their last chunk`);
});

t.test('of a long stream the usage is found in its last chunk, or by assembling all of it', async (t) => {
  const chunks = BEGINNING.repeat(300);
  let quick = 0;
  const parameters = runs(t, RUNS / 10);
  fc.assert(
    fc.property(streams, (text) => {
      const long = chunks + text;
      const outcome = outcomeOf(long, STREAMED);
      if (hasUsageAtEnd(outcome)) quick += 1;
      return told(scanUsage(outcome)!) === told(assembleStream(long).completion);
    }),
    parameters,
  );
  t.ok(quick > parameters.numRuns / 20, `${quick} by their last chunk`);
});

t.test('scanUsage decompresses a gzip body', async (t) => {
  const text = JSON.stringify({ model: 'm', usage: { prompt_tokens: 3 } });
  const { gzipSync } = await import('node:zlib');
  const bill = scanUsage(outcomeOf('', { responseBody: gzipSync(text), contentEncoding: 'gzip' }));
  t.match(bill, { model: 'm', usage: { prompt_tokens: 3 } });
});
