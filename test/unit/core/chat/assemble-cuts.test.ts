/** Streams that broke off: whatever the place, what had come is kept. */
import { ok } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { message } from '../../../support/chat/messages-stream.ts';
import { response } from '../../../support/chat/responses-stream.ts';
import { event, pieces, plain, sameJson, sse, type Told } from '../../../support/chat/streams.ts';

const of = ({ data }: Told) => data as JsonObject;

/** The texts of a stream by where they belong, told by its deltas alone. */
function textsOfDeltas(
  events: readonly Told[],
  read: (data: JsonObject) => [key: string, piece: unknown] | null,
) {
  const texts = new Map<string, string>();
  for (const told of events) {
    const found = read(of(told));
    if (found === null || typeof found[1] !== 'string') continue;
    texts.set(found[0], `${texts.get(found[0]) ?? ''}${found[1]}`);
  }
  return Object.fromEntries([...texts].filter(([, text]) => text !== ''));
}

/** The same of what was put together. */
function textsOf(entries: [key: string, text: unknown][]) {
  return Object.fromEntries(
    entries
      .filter(([, text]) => text !== undefined && text !== null && text !== '')
      .map(([key, text]) => [key, typeof text === 'string' ? text : JSON.stringify(text)]),
  );
}

t.test('a message that broke off between any two events keeps the text received', async () => {
  fc.assert(
    fc.property(message, ({ events }) => {
      for (let end = 0; end <= events.length; end += 1) {
        const begun = events.slice(0, end);
        const told = textsOfDeltas(begun, ({ index, delta }) => {
          const { text, thinking, signature, partial_json: json } = (delta ?? {}) as JsonObject;
          if (signature !== undefined) return [`${index} signature`, signature];
          return [`${index}`, text ?? thinking ?? json];
        });
        const { completion, complete } = assembleStream(sse(begun));
        const content = (completion.content ?? []) as JsonObject[];
        const found = textsOf(
          content.flatMap(({ text, thinking, signature, input }, index) => [
            [`${index}`, text ?? thinking ?? (`${index}` in told ? input : undefined)],
            [`${index} signature`, signature],
          ]),
        );
        sameJson(found, told);
        sameJson(
          complete,
          begun.some((one) => /^message_(delta|stop)$/.test(of(one).type as string)),
        );
      }
    }),
    { numRuns: 100 },
  );
});

t.test('a response that broke off between any two events keeps the text received', async () => {
  fc.assert(
    fc.property(response(fc.array(fc.nat(5), { maxLength: 12 })), ({ events }) => {
      for (let end = 0; end < events.length; end += 1) {
        const begun = events.slice(0, end);
        const told = textsOfDeltas(begun, (data) => [
          [data.output_index, data.content_index ?? data.summary_index ?? '-'].join(' '),
          data.delta,
        ]);
        const { completion, complete } = assembleStream(sse(begun));
        const items = new Map(
          ((completion.output ?? []) as JsonObject[]).map((item) => [
            `${item.id}`.replace('item_', ''),
            item,
          ]),
        );
        const found = textsOf(
          [...items].flatMap(([at, { content, summary, arguments: args, input, code }]) => [
            ...[content, summary].flatMap((list) =>
              ((list ?? []) as JsonObject[]).map(({ text, refusal }, part): [string, unknown] => [
                `${at} ${part}`,
                text ?? refusal,
              ]),
            ),
            [`${at} -`, args ?? input ?? code],
          ]),
        );
        sameJson(found, told);
        sameJson(complete, false);
      }
    }),
    { numRuns: 100 },
  );
});

t.test('chat completions that broke off keep the text received', async () => {
  const told = fc.array(fc.tuple(fc.nat(2), pieces), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(told, fc.constantFrom('text', 'delta'), (parts, member) => {
      const events = parts.flatMap(([index, { deltas }]) =>
        deltas.map((text) =>
          plain({ choices: [{ index, ...(member === 'text' ? { text } : { delta: { content: text } }) }] }),
        ),
      );
      for (let end = 1; end <= events.length; end += 1) {
        const begun = events.slice(0, end);
        const wanted = textsOfDeltas(begun, ({ choices }) => {
          const { index, text, delta } = (choices as JsonObject[])[0]!;
          return [`${index}`, text ?? (delta as JsonObject).content];
        });
        const { completion } = assembleStream(sse(begun));
        const choices = completion.choices as {
          index: number;
          text?: string;
          message?: { content: string };
        }[];
        sameJson(textsOf(choices.map((one) => [`${one.index}`, one.text ?? one.message?.content])), wanted);
      }
    }),
    { numRuns: 100 },
  );
});

t.test('an event that is cut in its middle is ignored', async () => {
  const stream = fc.oneof(message, response(fc.constant([])));
  fc.assert(
    fc.property(stream, fc.nat(), fc.nat(), ({ events }, which, where) => {
      const at = which % events.length;
      const whole = event(events[at]!);
      // Up to the data's last brace, without which it is no JSON.
      const torn = whole.slice(0, where % whole.lastIndexOf('}'));
      const before = sse(events.slice(0, at));
      sameJson(assembleStream(before + torn), assembleStream(before));
    }),
    { numRuns: 300 },
  );
});

t.test('an error after a part of the answer is added to that part, and changes nothing else', async () => {
  const error = { type: 'overloaded_error', message: 'Overloaded' };
  const endings: Told[] = [
    { name: 'error', data: { type: 'error', error } },
    { name: 'error', data: { error } },
    plain({ error }),
  ];
  const stream = fc.oneof(message, response(fc.constant([])));
  fc.assert(
    fc.property(stream, fc.nat(), fc.constantFrom(...endings), ({ events }, which, ending) => {
      const begun = events.slice(0, 1 + (which % (events.length - 2)));
      const { completion, complete } = assembleStream(sse(begun));
      const failed = assembleStream(sse([...begun, ending]));
      sameJson(failed.completion, { ...completion, error });
      sameJson(failed.complete, complete);
    }),
    { numRuns: 200 },
  );
});

t.test('an error may be the only event, or bare text', async (t) => {
  const body = {
    type: 'error',
    error: { type: 'overloaded_error', message: 'Overloaded' },
    request_id: 'req_1',
  };
  const alone = assembleStream(sse([{ name: 'error', data: body }]));
  sameJson(alone, { completion: body, complete: false, dialect: null });
  const text = assembleStream(
    `${sse([plain({ choices: [{ delta: { content: 'He' } }] })])}event: error\ndata: gone\n\n`,
  );
  t.match(text, {
    complete: false,
    completion: { error: { message: 'gone' }, choices: [{ message: { content: 'He' } }] },
  });
  t.match(assembleStream('event: error\ndata: gone\n\n').completion, { error: { message: 'gone' } });
});

t.test('an error within an answer is kept in every dialect', async (t) => {
  const failing = {
    error: { code: 502, message: 'Gone' },
    choices: [{ index: 0, delta: {}, finish_reason: 'error' }],
  };
  const { completion, complete } = assembleStream(
    sse([plain({ choices: [{ index: 0, delta: { content: 'He' } }] }), plain(failing)]),
  );
  t.equal(complete, false, 'the finish reason says that it broke off');
  t.match(completion, {
    error: { code: 502 },
    choices: [{ message: { content: 'He' }, finish_reason: 'error' }],
  });
  ok(!('error' in assembleStream(sse([plain({ error: null, choices: [] })])).completion));
});
