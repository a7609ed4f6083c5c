import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { sse, typed } from '../../../support/chat/streams.ts';

const block = (content_block: JsonObject) => ({ type: 'content_block_start', index: 0, content_block });
const TOOL = block({ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} });
const json = (partial_json: string) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'input_json_delta', partial_json },
});
const contentOf = (...events: JsonObject[]) =>
  assembleStream(sse(events.map(typed))).completion.content as JsonObject[];

t.test('tool input that is no JSON object is kept as text', async (t) => {
  for (const text of [
    '{"a": "Zü',
    '{',
    '"a"',
    '[1]',
    '12',
    '12345678901234567890',
    '{"a":1}}',
    `${'{"a":'.repeat(200_000)}1234567890123456`,
  ]) {
    t.equal(contentOf(TOOL, json(text.slice(0, 3)), json(text.slice(3)))[0]?.input, text);
  }
  t.strictSame(contentOf(TOOL)[0]?.input, {});
  t.strictSame(contentOf(TOOL, json(''))[0]?.input, {});
  const begunWith = block({ type: 'tool_use', id: 'x', name: 'f', input: { a: 1 } });
  t.strictSame(contentOf(begunWith)[0]?.input, { a: 1 }, 'some providers send it whole');
});

t.test('numbers in tool input keep their digits, also those that no double holds', async (t) => {
  const digits = '1'.repeat(400);
  const text = `{"a":[12345678901234567890,-9007199254740993,1e400,${digits},0.1234567890123456789],"s":"${digits}"}`;
  t.equal(JSON.stringify(contentOf(TOOL, json(text))[0]?.input), text);
});
