import fc from 'fast-check';
import t from 'tap';
import { decodeAnswer, encodeFrame, encodeRecord } from '../../../../evaluators/python/frame.ts';

/** Packs an answer as evaluation.py does, without the length. */
function pack(parts: {
  kind: number;
  score?: number;
  code?: string;
  message?: string;
  traces?: string;
}): Buffer {
  const [code, message] = [Buffer.from(parts.code ?? ''), Buffer.from(parts.message ?? '')];
  const head = Buffer.alloc(21);
  head.writeUInt8(parts.kind, 0);
  head.writeDoubleBE(parts.score ?? 0, 1);
  head.writeInt32BE(3, 9);
  head.writeInt32BE(0, 13);
  head.writeUInt16BE(code.length, 17);
  head.writeUInt16BE(message.length, 19);
  return Buffer.concat([head, code, message, Buffer.from(parts.traces ?? '')]);
}

t.test('decodeAnswer decodes each kind of answer', async (t) => {
  t.same(decodeAnswer(pack({ kind: 0 })), { kind: 'loaded', takesRecord: false, traces: '' });
  t.same(decodeAnswer(pack({ kind: 3 })), { kind: 'loaded', takesRecord: true, traces: '' });
  t.same(decodeAnswer(pack({ kind: 1, score: 0.1, traces: 'é' })), {
    kind: 'score',
    score: 0.1,
    label: null,
    reasoning: null,
    traces: 'é',
  });
  t.same(decodeAnswer(pack({ kind: 1, score: 1, code: 'good', message: 'why' })), {
    kind: 'score',
    score: 1,
    label: 'good',
    reasoning: 'why',
    traces: '',
  });
  t.same(decodeAnswer(pack({ kind: 4, code: 'good' })), {
    kind: 'score',
    score: null,
    label: 'good',
    reasoning: null,
    traces: '',
  });
  t.same(decodeAnswer(pack({ kind: 2, code: 'py_exception', message: 'boom', traces: 'x' })), {
    kind: 'failure',
    code: 'py_exception',
    message: 'boom',
    line: 3,
    column: null,
    traces: 'x',
  });
});

t.test('decodeAnswer turns a score of -0 into 0', async (t) => {
  const answer = decodeAnswer(pack({ kind: 1, score: -0 }));
  t.ok(answer?.kind === 'score' && Object.is(answer.score, 0));
});

t.test('decodeAnswer returns null for bytes that are not an answer', async (t) => {
  t.equal(decodeAnswer(Buffer.alloc(0)), null);
  t.equal(decodeAnswer(pack({ kind: 9 })), null);
  t.equal(decodeAnswer(pack({ kind: 4 })), null, 'neither a score nor a label');
  for (const score of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    t.equal(decodeAnswer(pack({ kind: 1, score })), null);
  }
  t.equal(decodeAnswer(pack({ kind: 2, code: 'judge_refused' })), null, 'a code that no child can know');
  t.equal(decodeAnswer(pack({ kind: 2, code: 'sandbox_crashed' })), null, 'a code that would be tried again');
});

t.test(
  'decodeAnswer never throws and never gives a score that is not finite, whatever the bytes',
  async (t) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const answer = decodeAnswer(Buffer.from(bytes));
        return answer?.kind !== 'score' || Number.isFinite(answer.score ?? 0);
      }),
      { numRuns: 2_000 },
    );
    t.pass();
  },
);

t.test('encodeFrame writes the length and the JSON of a job', async (t) => {
  const frame = encodeFrame({ input: '\ud800é', output: '' });
  t.equal(frame.readUInt32BE(0), frame.length - 4);
  t.same(JSON.parse(frame.subarray(4).toString()), { input: '\ud800é', output: '' });
});

t.test('encodeRecord copies the bodies as they are into one JSON object', async (t) => {
  const record = { requestText: '{"a": 1e400}', responseText: '["é"]', inputs: '{"name":"\\ud800"}' };
  const frame = encodeRecord({ ...record, expected: '[1.10]' });
  t.equal(frame.readUInt32BE(0), frame.length - 4);
  t.equal(
    frame.subarray(4).toString(),
    '{"request":{"a": 1e400},"response":["é"],"inputs":{"name":"\\ud800"},"expected":[1.10]}',
  );
});
