import t from 'tap';
import { dialectOf } from '#core/chat/streams/dialect.ts';
import type { JsonObject } from '#core/json/mod.ts';

const dialectOfData = (data: JsonObject, type: string | null = null) => dialectOf({ type, data });

t.test('an event is Anthropic’s Messages or OpenAI’s Responses by its type', async (t) => {
  t.equal(dialectOfData({}, 'message_start'), 'messages');
  t.equal(dialectOfData({}, 'content_block_delta'), 'messages');
  t.equal(dialectOfData({}, 'response.output_text.delta'), 'responses');
});

t.test('an event that several dialects have, or without choices, is of no dialect', async (t) => {
  t.equal(dialectOfData({}, 'error'), null);
  t.equal(dialectOfData({ choices: [] }), null);
  t.equal(dialectOfData({ choices: [null, 'x'] }), null);
});

t.test('a chunk whose choice has text is an older completion, unless it calls itself a chat', async (t) => {
  const choices = [{ text: 'x', delta: { content: 'x' } }];
  t.equal(dialectOfData({ choices }), 'completions');
  t.equal(dialectOfData({ choices, object: 'chat.completion.chunk' }), 'chat');
});

t.test('a chunk called text_completion whose choice has a delta is a chat', async (t) => {
  t.equal(dialectOfData({ choices: [{ delta: {} }], object: 'text_completion' }), 'chat');
  t.equal(dialectOfData({ choices: [{ finish_reason: 'stop' }], object: 'text_completion' }), 'completions');
  t.equal(dialectOfData({ choices: [{ finish_reason: 'stop' }] }), 'chat');
});
