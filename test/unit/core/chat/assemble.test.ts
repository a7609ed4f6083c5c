import fc from 'fast-check';
import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';

const event = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;
const delta = (content: object, index = 0, more: object = {}) =>
  event({
    id: 'c1',
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index, delta: content, ...more }],
  });

/** Text cut into pieces at given places. */
function cut(text: string, places: number[]): string[] {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [...at, text.length].map((end, index) => text.slice(at[index - 1] ?? 0, end));
}

t.test('a chat completion cut into deltas anywhere is assembled', async (t) => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.string(),
      fc.array(fc.nat(), { maxLength: 8 }),
      (text, args, places) => {
        const stream = [
          delta({ role: 'assistant', content: '' }),
          ...cut(text, places).map((content) => delta({ content })),
          delta({
            tool_calls: [
              { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } },
            ],
          }),
          ...cut(args, places).map((part) =>
            delta({ tool_calls: [{ index: 0, function: { arguments: part } }] }),
          ),
          delta({}, 0, { finish_reason: 'tool_calls' }),
          'data: [DONE]\n\n',
        ].join('');
        const { completion, complete } = assembleStream(stream);
        t.equal(complete, true);
        t.match(completion, { id: 'c1', object: 'chat.completion', model: 'm' });
        t.same(completion.choices, [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: text,
              tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: args } }],
            },
            finish_reason: 'tool_calls',
          },
        ]);
      },
    ),
    { numRuns: 300 },
  );
});

t.test('several choices and interleaved tool calls are assembled by their indexes', async (t) => {
  const { completion } = assembleStream(
    delta({ content: 'B' }, 1) +
      delta({ content: 'A' }, 0) +
      delta({ tool_calls: [{ index: 1, id: 'y', function: { name: 'g', arguments: '{' } }] }) +
      delta({ tool_calls: [{ index: 0, id: 'x', function: { name: 'f', arguments: '{}' } }] }) +
      delta({ tool_calls: [{ index: 1, function: { arguments: '}' } }] }) +
      delta({ content: 'b' }, 1),
  );
  t.match(completion.choices, [
    {
      index: 0,
      message: {
        content: 'A',
        tool_calls: [
          { id: 'x', function: { arguments: '{}' } },
          { id: 'y', function: { arguments: '{}' } },
        ],
      },
    },
    { index: 1, message: { content: 'Bb' } },
  ]);
});

t.test('reasoning text, refusals and log probabilities of a chat completion are kept', async (t) => {
  const { completion } = assembleStream(
    delta({ reasoning_content: 'Let ' }) +
      delta({ reasoning_content: 'me' }, 0, { logprobs: { content: [{ token: 'a' }] } }) +
      delta({ refusal: 'No' }, 0, { logprobs: { content: [{ token: 'b' }] } }),
  );
  t.match(completion.choices, [
    {
      message: { reasoning_content: 'Let me', refusal: 'No' },
      logprobs: { content: [{ token: 'a' }, { token: 'b' }] },
    },
  ]);
});

t.test('a skipped index makes no tool call', async (t) => {
  const { completion } = assembleStream(
    delta({ tool_calls: [{ index: 900, id: 'b' }] }) +
      delta({ tool_calls: [{ index: 2, id: 'a' }] }) +
      delta({ tool_calls: [{ id: 'c' }] }),
  );
  t.match(completion.choices, [{ message: { tool_calls: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] } }]);
  t.match(assembleStream(delta({ tool_calls: [] })).completion.choices, [{ message: { tool_calls: [] } }]);
});

t.test('lists in a message grow, and members of any name are kept', async (t) => {
  const { completion } = assembleStream(
    delta({ reasoning_details: [{ text: 'a' }] }) +
      'data: {"choices":[{"delta":{"reasoning_details":[{"text":"b"}],"__proto__":{"x":1}}}]}\n\n',
  );
  const text = JSON.stringify(completion.choices);
  t.ok(text.includes('"reasoning_details":[{"text":"a"},{"text":"b"}]'), text);
  t.ok(text.includes('"__proto__":{"x":1}'), text);
});

t.test('usage in a chunk without choices is kept', async (t) => {
  const { completion } = assembleStream(
    delta({ content: 'x' }) + event({ choices: [], usage: { prompt_tokens: 1 } }),
  );
  t.same(completion.usage, { prompt_tokens: 1 });
});

t.test(
  'CRLF, comments, fields without a space and a cut last event are read as the standard says',
  async (t) => {
    const { completion, complete } = assembleStream(
      `: ping\r\n\r\ndata:{"id":"q","choices":[{"delta":{"content":"x"}}]}\r\n\r\ndata: {"torn`,
    );
    t.match(completion, { id: 'q', choices: [{ message: { content: 'x' } }] });
    t.equal(complete, false);
    t.equal(assembleStream('data: [DONE]\n\n').complete, true, 'one may have no more than its end');
  },
);

t.test('nonsense in a stream is ignored, and never throws', async (t) => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.string(),
          fc.json().map((value) => `data: ${value}`),
          fc.constant('data: {"choices":[{"delta":{"tool_calls":[{"index":1e9}]}},7,null]}'),
        ),
      ),
      (lines) => {
        t.type(assembleStream(lines.join('\n\n')).complete, 'boolean');
      },
    ),
    { numRuns: 500 },
  );
  t.same(assembleStream('').completion, {});
});
