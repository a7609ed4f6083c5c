import fc from 'fast-check';
import t from 'tap';
import { isDoneFrame } from '../../../../gateway/endpoints/end-of-stream.ts';
import { isUsageFrame, SseSplitter } from '../../../../gateway/response/sse-splitter.ts';

const lineEnd = fc.constantFrom('\n', '\r\n');
const frame = fc
  .tuple(
    fc.array(
      fc.stringMatching(/^[ -~é漢]{0,20}$/).map((text) => `data: ${text}`),
      { minLength: 1, maxLength: 3 },
    ),
    lineEnd,
  )
  .map(([lines, end]) => lines.map((line) => line + end).join('') + end);

const MIB = 1024 * 1024;
const splitterOf = () => new SseSplitter(MIB);

t.test('a stream has the same frames and bytes for any cut into chunks', async (t) => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 6 }),
      fc.stringMatching(/^[a-z:\r\n]{0,4}$/),
      fc.array(fc.nat(), { maxLength: 30 }),
      (frames, rest, places) => {
        const bytes = Buffer.from(frames.join('') + rest);
        const whole = splitterOf();
        const expected = whole.push(bytes).map(String);
        const splitter = splitterOf();
        const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
        const given = [...at, bytes.length]
          .flatMap((end, index) => splitter.push(bytes.subarray(at[index - 1] ?? 0, end)))
          .map(String);
        t.same(given, expected);
        t.equal(given.join('') + splitter.rest().toString(), bytes.toString());
      },
    ),
    { numRuns: 1_000 },
  );
});

t.test('frames end at a blank line, whatever the line ends', async (t) => {
  t.same(splitterOf().push(Buffer.from('a\n\nb\r\n\r\nc\n\r\nd\n')).map(String), [
    'a\n\n',
    'b\r\n\r\n',
    'c\n\r\n',
  ]);
});

t.test('frames of a stream whose lines end in CR alone are told apart, wherever it is cut', async (t) => {
  const frames = ['event: a\rdata: 1\r\r', ': note\r\r', 'data: é漢\rdata: 2\r\r'];
  const bytes = Buffer.from(`${frames.join('')}data: torn\r`);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const splitter = splitterOf();
    const given = [...splitter.push(bytes.subarray(0, cut)), ...splitter.push(bytes.subarray(cut))];
    t.same(given.map(String), frames);
    t.equal(String(splitter.rest()), 'data: torn\r');
  }
  const single = splitterOf();
  t.same([...bytes].flatMap((byte) => single.push(Buffer.from([byte]))).map(String), frames);
});

t.test('a 16 MiB event in 64 KiB chunks is joined in linear time', async (t) => {
  const splitter = new SseSplitter(17 * MIB);
  const chunk = Buffer.alloc(64 * 1024, 'x');
  for (let index = 0; index < 256; index += 1) t.equal(splitter.push(chunk).length, 0);
  const [frame] = splitter.push(Buffer.from('\n\n'));
  t.equal(frame?.length, 16 * MIB + 2);
});

t.test(
  'a frame over the size limit is dropped with all that follows, wherever the stream is cut',
  async (t) => {
    const maxBytes = 12;
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2 * maxBytes }), { maxLength: 6 }),
        fc.nat({ max: 2 * maxBytes }),
        fc.array(fc.nat(), { maxLength: 30 }),
        (lengths, restBytes, places) => {
          const frames = lengths.map((length) => `${'x'.repeat(length)}\n\n`);
          const rest = 'x'.repeat(restBytes);
          const tooLong = frames.findIndex((frame) => frame.length > maxBytes);
          const isOverrun = tooLong !== -1 || restBytes > maxBytes;
          const bytes = Buffer.from(frames.join('') + rest);
          const splitter = new SseSplitter(maxBytes);
          const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
          const given = [...at, bytes.length]
            .flatMap((end, index) => splitter.push(bytes.subarray(at[index - 1] ?? 0, end)))
            .map(String);
          t.same(given, tooLong === -1 ? frames : frames.slice(0, tooLong));
          t.equal(splitter.isOverrun, isOverrun);
          t.equal(splitter.rest().toString(), isOverrun ? '' : rest);
        },
      ),
      { numRuns: 1_000 },
    );
  },
);

t.test('isDoneFrame accepts only a whole [DONE]', async (t) => {
  for (const yes of [
    'data: [DONE]\n\n',
    'data:[DONE]\r\n\r\n',
    'event: end\ndata: [DONE]\n\n',
    'data: [DONE]',
  ])
    t.ok(isDoneFrame(Buffer.from(yes)), yes);
  for (const no of ['data: "[DONE]"\n\n', 'data: {"content":"[DONE]"}\n\n', ': [DONE]\n\n'])
    t.notOk(isDoneFrame(Buffer.from(no)), no);
});

t.test('isUsageFrame accepts only a chunk with usage and without choices', async (t) => {
  const yes = [
    '{"choices":[],"usage":{"total_tokens":1}}',
    '{ "usage" : {} , "choices" : [ ] }',
    '{"id":"c","choices":[{"index":0,"delta":{}}],"usage":{"total_tokens":1}}',
  ];
  const no = [
    '{"choices":[],"usage":null}',
    '{"choices":[],"prompt_filter_results":[]}',
    '{"choices":[{"index":0,"delta":{}}],"usage":null}',
    '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"total_tokens":1}}',
    '{"choices":[{"index":0,"delta":{}},{"index":1,"delta":{"content":"a"}}],"usage":{"total_tokens":1}}',
    '{"choices":[{"delta":{"content":"\\"choices\\":[] \\"usage\\""}}],"usage":{"total_tokens":1}}',
    '{"usage":{}}',
    `{"choices":[],"usage":{"x":"${'x'.repeat(65_536)}"}}`,
    '[DONE]',
  ];
  for (const data of yes) t.ok(isUsageFrame(Buffer.from(`data: ${data}\n\n`)), data);
  for (const data of no) t.notOk(isUsageFrame(Buffer.from(`data: ${data}\n\n`)), data);
});
