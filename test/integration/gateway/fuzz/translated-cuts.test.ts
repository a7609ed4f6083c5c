/**
 * Streams of the other dialect: whatever chunks they come in and however they are written, the client reads the same
 * events and the record is the same.
 */
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import type { ApiEndpoint } from '../../../../gateway/endpoints/endpoint.ts';
import { TRANSLATIONS, type TranslationName } from '../../../../gateway/translations/translations.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { cutAt, cuts, endpointOf, type Relayed, relayed } from './relay-world.ts';
import { chat, messages, responses, type Said, said, type Told } from './told-streams.ts';
import { bytesOfFrames, PLAIN, styles, writeStream } from './written-streams.ts';

type Direction = { surface: ApiEndpoint; translation: TranslationName; tell(said: Said): Told[] };

const DIRECTIONS: readonly Direction[] = [
  { surface: endpointOf('chat'), translation: 'chat by messages', tell: messages },
  { surface: endpointOf('messages'), translation: 'messages by chat', tell: chat },
  { surface: endpointOf('messages'), translation: 'messages by responses', tell: responses },
];

type Way = { ending?: 'end' | 'cut'; places?: readonly number[]; hasTurns?: boolean; hidesUsage?: boolean };

function relay({ surface, translation }: Direction, bytes: Buffer, way: Way = {}): Promise<Relayed> {
  const { ending = 'end', places = [], hasTurns = false, hidesUsage = false } = way;
  return relayed({
    surface,
    translation: TRANSLATIONS[translation],
    hidesUsage: hidesUsage && surface.hasUsageOption,
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    chunks: cutAt(bytes, places),
    ending,
    hasTurns,
  });
}

/** The data of each event. */
function eventsOf({ bytes }: Relayed): (JsonObject | '[DONE]')[] {
  const text = bytes.toString('utf8');
  ok(text === '' || text.endsWith('\n\n'), 'whole events only');
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => (line === 'data: [DONE]' ? '[DONE]' : (JSON.parse(line.slice(6)) as JsonObject)));
}

const CUTS_EACH = 5;

t.test(
  '10,000 ways to cut a translated stream of any notation and ending give the same events',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...DIRECTIONS),
        said,
        styles,
        fc.option(fc.nat(), { nil: null }),
        fc.record({ ending: fc.constantFrom('end', 'cut'), hidesUsage: fc.boolean() }),
        fc.array(fc.tuple(cuts, fc.boolean()), { minLength: CUTS_EACH, maxLength: CUTS_EACH }),
        async (direction, said, styles, place, how, ways) => {
          const all = bytesOfFrames(writeStream(direction.tell(said), styles));
          const bytes = place === null ? all : all.subarray(0, place % (all.length + 1));
          const whole = await relay(direction, bytes, how);
          for (const [places, hasTurns] of ways)
            deepStrictEqual(await relay(direction, bytes, { ...how, places, hasTurns }), whole);
        },
      ),
      runs(t, 10_000 / CUTS_EACH),
    );
  },
);

/** Returns the text and the tool call that a client reads from a response. */
function heard(endpoint: string, completion: JsonObject): { text: string; call: string | null } {
  if (endpoint === 'chat') {
    const [choice] = completion.choices as {
      message: { content: string | null; tool_calls?: { function: { arguments: string } }[] };
    }[];
    const { content, tool_calls: calls } = choice!.message;
    return { text: content ?? '', call: calls?.[0]?.function.arguments ?? null };
  }
  const blocks = completion.content as { type: string; text?: string; input?: unknown }[];
  const call = blocks.find(({ type }) => type === 'tool_use');
  const text = blocks.map(({ text = '' }) => text).join('');
  return { text, call: call === undefined ? null : JSON.stringify(call.input) };
}

t.test(
  'a translated stream arrives whole in any notation, with the stop reason of the provider',
  async (t) => {
    const plain = said.map((all) => ({
      ...all,
      call: all.call === null ? null : ['{"a":', JSON.stringify(all.call), '}'],
    }));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...DIRECTIONS),
        plain,
        styles,
        fc.boolean(),
        async (direction, said, styles, hidesUsage) => {
          const { providerEndpoint: endpoint } = direction.surface;
          const told = direction.tell(said);
          const written = bytesOfFrames(writeStream(told, styles));
          const usual = bytesOfFrames(writeStream(told, [PLAIN]));
          const given = await relay(direction, written, { hidesUsage });
          const events = eventsOf(given);
          deepStrictEqual(events, eventsOf(await relay(direction, usual, { hidesUsage })));
          const text = said.texts.join('');
          const { completion } = assembleStream(given.bytes.toString('utf8'));
          deepStrictEqual(heard(endpoint, completion), { text, call: said.call?.join('') ?? null });
          const isComplete = told.some(({ isFinish }) => isFinish);
          const last = events.at(-1) as { type?: string } | '[DONE]';
          strictEqual(last === '[DONE]' || last.type === 'message_stop', isComplete);
          strictEqual(given.outcome.truncated, !isComplete);
          if (isComplete && endpoint === 'chat')
            strictEqual(completion.usage !== undefined, said.hasUsage && !hidesUsage);
        },
      ),
      runs(t, 2_000),
    );
  },
);
