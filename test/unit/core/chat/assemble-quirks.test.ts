/** Chunks of chat completions as providers really send them, each unlike what OpenAI's reference says. */
import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { plain, sameJson, sse } from '../../../support/chat/streams.ts';

const assemble = (...chunks: JsonObject[]) => assembleStream(sse(chunks.map(plain)));
const delta = (content: JsonObject, more: JsonObject = {}) => ({
  choices: [{ index: 0, delta: content, ...more }],
});

/** The message that deltas make. */
function messageOf(...deltas: JsonObject[]): JsonObject {
  const { choices } = assemble(...deltas.map((one) => delta(one))).completion as {
    choices: { message: JsonObject }[];
  };
  return choices[0]!.message;
}
const callsOf = (...parts: JsonObject[]) =>
  messageOf(...parts.map((one) => ({ tool_calls: [one] }))).tool_calls;
const contentOf = (...pieces: unknown[]) => messageOf(...pieces.map((content) => ({ content }))).content;

t.test('an empty text or a zero time does not replace a known value', async (t) => {
  const told = { id: 'c1', created: 7, model: 'm', system_fingerprint: 'fp' };
  const untold = { id: '', created: 0, model: '', system_fingerprint: '' };
  const finished = delta({ role: 'assistant', content: 'Hi' }, { finish_reason: 'stop' });
  const late = { ...untold, ...delta({ role: '' }, { finish_reason: '', content_filter_results: {} }) };
  const { completion } = assemble({ ...untold, choices: [] }, { ...told, ...finished }, late);
  t.match(completion, told);
  t.match(completion.choices, [
    { finish_reason: 'stop', message: { role: 'assistant' }, content_filter_results: {} },
  ]);
  t.match(
    assemble({ ...untold, ...finished }).completion,
    untold,
    'where nothing is known it is all that there is',
  );
});

t.test('a tool call keeps its id, type and name when later chunks have empty ones', async () => {
  const begun = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{' } };
  const rest = { index: 0, id: '', type: '', function: { name: '', arguments: '}' } };
  sameJson(callsOf(begun, rest), [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }]);
});

t.test('a part without index, id and name continues the previous tool call', async () => {
  const first = { id: 'a', function: { name: 'f', arguments: '{' } };
  const more = { function: { arguments: '}' } };
  const whole = { id: 'a', function: { name: 'f', arguments: '{}' } };
  const second = { id: 'b', function: { name: 'f', arguments: '{}' } };
  sameJson(callsOf(first, more, second), [whole, second]);
  sameJson(callsOf({ index: 5, ...second }, { index: 2, ...first }, { id: '', ...more }), [whole, second]);
  const nameless = { id: '', function: { name: 'f', arguments: '{}' } };
  sameJson(callsOf(nameless, nameless), [nameless, nameless]);
  const custom = { custom: { name: 'g', input: 'x' } };
  sameJson(callsOf(nameless, custom), [nameless, custom]);
  sameJson(callsOf({ id: 'a' }, { id: 'b' }), [{ id: 'a' }, { id: 'b' }]);
  sameJson(callsOf(more), [more]);
});

t.test('another id with a name at the same index begins another tool call', async () => {
  const call = (id: string) => ({ id, function: { name: 'f', arguments: '{' } });
  const more = { index: 0, function: { arguments: '}' } };
  const begun = (id: string) => ({ index: 0, ...call(id) });
  const whole = (id: string) => ({ id, function: { name: 'f', arguments: '{}' } });
  sameJson(callsOf(begun('a'), more, begun('b'), more), [whole('a'), whole('b')]);
  sameJson(callsOf(begun('a'), { ...more, id: 'a', function: { name: 'f', arguments: '}' } }), [whole('a')]);
  sameJson(callsOf(begun('a'), { ...more, id: 'x' }), [whole('x')]);
  sameJson(callsOf({ index: 0, function: { name: 'f', arguments: '{' } }, { ...more, id: 'a' }), [
    { function: { name: 'f', arguments: '{}' }, id: 'a' },
  ]);
});

t.test('content in parts and in text becomes one list, with neighbours of one kind joined', async () => {
  const text = (said: string) => ({ type: 'text', text: said });
  const thinking = (said: string, closed = true) => ({ type: 'thinking', thinking: [text(said)], closed });
  sameJson(
    contentOf('', [thinking('Let ', false)], [thinking('me'), text('4')], '2', '', [
      text('.'),
      thinking('?'),
    ]),
    [thinking('Let me'), text('42.'), thinking('?')],
  );
  sameJson(contentOf('4', [text('2'), thinking('?')]), [text('42'), thinking('?')]);
  sameJson(contentOf('4', '2'), '42');
});

t.test('content parts with more than their text are not joined', async () => {
  const cited = { type: 'text', text: 'a', annotations: [1] };
  const reference = { type: 'reference', reference_ids: [1] };
  const signed = { type: 'thinking', thinking: [cited], signature: 's' };
  const parts = [cited, cited, { type: 'text', text: 'b' }, reference, reference, signed, signed, 7, null];
  sameJson(contentOf(...parts.map((part) => [part])), parts);
  const thoughts = { type: 'thinking', thinking: [cited, reference] };
  sameJson(contentOf([thoughts], [thoughts]), [
    { type: 'thinking', thinking: [cited, reference, cited, reference] },
  ]);
});

t.test("a text beside a chat's delta is ignored", async () => {
  const choices = delta({ content: 'Hi' }, { text: 'Hi', seed: 7 });
  const { completion } = assemble({ object: 'chat.completion.chunk', ...choices });
  sameJson(completion.choices, [
    { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: null, seed: 7 },
  ]);
});

t.test('an empty finish reason does not complete the answer', async (t) => {
  const begun = delta({ content: 'He' }, { finish_reason: '' });
  t.match(assemble(begun), { complete: false, completion: { choices: [{ finish_reason: null }] } });
  t.match(assemble({ choices: [{ index: 0, text: 'He', finish_reason: '' }] }), { complete: false });
});

t.test('an error makes a completion incomplete, also with a finish reason or [DONE]', async (t) => {
  const whole = delta({ content: 'Hi' }, { finish_reason: 'stop' });
  const failed = delta({}, { finish_reason: 'error' });
  const error = { error: { message: 'Gone' } };
  const done = plain('[DONE]');
  const isComplete = (...chunks: JsonObject[]) => assembleStream(sse([...chunks.map(plain), done])).complete;
  t.equal(isComplete(whole), true);
  t.equal(isComplete(delta({ content: 'Hi' })), true, 'without a reason, too');
  t.equal(isComplete(failed), false);
  t.equal(isComplete(whole, failed), false);
  t.equal(isComplete(whole, error), false);
  t.equal(isComplete({ choices: [{ index: 0, text: 'Hi', finish_reason: 'stop' }] }, error), false);
  t.equal(isComplete(error), false);
  for (const none of [null, '']) t.equal(isComplete({ ...whole, error: none }), true, 'an empty one is none');
});
