/** The ends of streams: a complete response ends as its provider ended it, an incomplete one in one error. */
import { deepStrictEqual, match, strictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';
import type { ApiEndpoint } from '../../../../gateway/endpoints/endpoint.ts';
import { TRANSLATIONS, type TranslationName } from '../../../../gateway/translations/translations.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { endpointOf, type Relayed, relayed } from './relay-world.ts';
import { sameBytes } from './same-bytes.ts';
import { streamCases } from './stream-cases.ts';
import { chat, messages, responses, said, type Told } from './told-streams.ts';
import { bytesOfFrames, PLAIN, styles, writeStream } from './written-streams.ts';

type Way = {
  surface: ApiEndpoint;
  chunks: readonly Buffer[];
  ending?: 'end' | 'cut';
  hidesUsage?: boolean;
  translation?: TranslationName | null;
};

function relay({ surface, chunks, ending = 'end', hidesUsage = false, translation = null }: Way) {
  return relayed({
    surface,
    translation: translation === null ? null : TRANSLATIONS[translation],
    hidesUsage,
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    chunks,
    ending,
    hasTurns: false,
  });
}

/** The single event that reports an incomplete response. */
const ERROR = {
  end: /^(event: error\n)?data: \{.*The provider \w+ ended its answer before it was whole.*\}\n\n$/,
  cut: /^(event: error\n)?data: \{.*The provider \w+ closed the connection.*\}\n\n$/,
};
const CODE = { end: 'provider_bad_answer', cut: 'provider_unreachable' };

t.test('a complete stream ends as its provider ended it, an incomplete one in an error', async (t) => {
  await fc.assert(
    fc.asyncProperty(streamCases, async ({ surface, hidesUsage, bytes, ending, expected }) => {
      const given = await relay({ surface, hidesUsage, chunks: [bytes], ending });
      const end = given.bytes.subarray(expected.bytes.length);
      if (expected.isComplete) sameBytes(end, expected.rest);
      else match(end.toString('utf8'), ERROR[ending]);
      strictEqual(given.outcome.errorCode, expected.isComplete ? null : CODE[ending]);
    }),
    runs(t, 1_000),
  );
});

t.test('a translated stream is complete once its provider has sent a stop reason', async (t) => {
  const direction = fc.constantFrom(
    ['chat', 'chat by messages', messages] as const,
    ['messages', 'messages by chat', chat] as const,
    ['messages', 'messages by responses', responses] as const,
  );
  await fc.assert(
    fc.asyncProperty(direction, said, styles, fc.nat(), fc.constantFrom('end', 'cut'), async (...all) => {
      const [[endpoint, translation, tell], said, styles, place, ending] = all;
      const frames = writeStream(tell({ ...said, hasFinish: true }), styles);
      const came = frames.slice(0, place % (frames.length + 1));
      const isComplete = came.some(({ isFinish }) => isFinish);
      const chunks = [bytesOfFrames(came)].filter(({ length }) => length > 0);
      const given = await relay({ surface: endpointOf(endpoint), chunks, ending, translation });
      const last = `${given.bytes.toString('utf8').split('\n\n').at(-2) ?? ''}\n\n`;
      if (isComplete)
        match(last, /^(data: \[DONE\]|event: message_stop\ndata: \{"type":"message_stop"\})\n\n$/);
      else match(last, ERROR[ending]);
      deepStrictEqual(
        [given.outcome.truncated, given.outcome.errorCode],
        [!isComplete, isComplete ? null : CODE[ending]],
      );
    }),
    runs(t, 1_000),
  );
});

t.test(
  'an error that a provider reports in a stream is reported once, also when the connection then ends or breaks',
  async (t) => {
    const error = { message: 'Overloaded', type: 'overloaded_error' };
    for (const [endpoint, told] of [
      ['chat', { name: null, data: { error } }],
      ['completions', { name: null, data: { error } }],
      ['messages', { name: 'error', data: { type: 'error', error } }],
    ] as const satisfies [ApiEndpoint['providerEndpoint'], Told][]) {
      for (const ending of ['end', 'cut'] as const) {
        const bytes = bytesOfFrames(writeStream([told], [PLAIN]));
        const given = await relay({ surface: endpointOf(endpoint), chunks: [bytes], ending });
        t.equal(given.bytes.toString(), bytes.toString(), `${endpoint} ${ending}`);
        t.match(given.outcome, { status: 529, truncated: true, errorCode: null });
      }
    }
  },
);

t.test(
  'bytes behind the last event of a stream do not change its record, wherever the stream is cut',
  async (t) => {
    const all = { texts: ['Hi'], call: null, hasFinish: true, hasUsage: false, hasLast: true };
    const [usage] = chat({ ...all, texts: [], hasFinish: false, hasUsage: true, hasLast: false }).slice(-1);
    const answer = bytesOfFrames(writeStream(chat(all), [PLAIN]));
    const after = bytesOfFrames(writeStream([usage!], [PLAIN]));
    const surface = endpointOf('chat');
    const once = await relay({ surface, chunks: [Buffer.concat([answer, after])] });
    const twice = await relay({ surface, chunks: [answer, after] });
    const recorded = ({ outcome }: Relayed) => assembleStream(outcome.responseBody.toString()).completion;
    t.same(recorded(once), recorded(twice));
    t.equal(once.outcome.responseBody.toString(), answer.toString());
    t.equal(once.bytes.toString(), answer.toString() + after.toString(), 'the client gets it all the same');
  },
);

t.test(
  'the last event of a Messages stream is recognized in any notation, and waits for the record',
  async (t) => {
    const stop = '{"type":"message_stop"}';
    for (const last of [
      `event: message_stop\ndata: ${stop}\n\n`,
      `data: ${stop}\n\n`,
      `event:message_stop\r\ndata:${stop}\r\n\r\n`,
      `event: message_stop\ndata: {\ndata:  "type": "message_stop"\ndata: }\n\n`,
      `event: message_stop\ndata: {"type":"message_stop"${' '.repeat(500)}}\n\n`,
      `event: message_stop\ndata: {"pad":"${'x'.repeat(300)}","type":"message_stop"}\n\n`,
    ]) {
      const given = await relay({ surface: endpointOf('messages'), chunks: [Buffer.from(last)] });
      t.equal(given.bytes.toString(), last);
      t.equal(given.bytesBeforeRecord, 0, JSON.stringify(last.slice(0, 60)));
    }
  },
);
