import t from 'tap';
import { type JsonObject, parseExactJson } from '#core/json-values/mod.ts';
import {
  type Dialect,
  newMessage,
  readMessages,
  writeMessages,
} from '../../../../../dashboard/parts/draft/messages.ts';

const CALL = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } };
const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

/** Reads and writes, as when nothing is edited. */
function roundTrip(dialect: Dialect, body: JsonObject): JsonObject {
  return writeMessages(dialect, readMessages(dialect, body));
}

t.test('messages that are not edited are sent as they were, in each dialect', async (t) => {
  const chat = {
    messages: [
      { role: 'system', content: 'Be brief' },
      { role: 'user', name: 'ann', content: [{ type: 'text', text: 'What?', cache: true }, IMAGE] },
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'tool', tool_call_id: 'c', content: '{"n": 1}' },
    ],
  };
  t.same(roundTrip('chat', chat), chat);
  const messages = {
    system: [{ type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'look', input: { n: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'found' }] },
    ],
  };
  t.same(roundTrip('messages', messages), messages);
  t.same(roundTrip('messages', { ...messages, system: 'Be brief' }).system, 'Be brief');
  const responses = {
    instructions: 'Be brief',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'found' },
    ],
  };
  t.same(roundTrip('responses', responses), responses);
  t.same(roundTrip('responses', { input: 'Hi' }), { input: [{ role: 'user', content: 'Hi' }] });
});

t.test('numbers of tool calls that a double cannot hold stay exact', async (t) => {
  const text =
    '{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":{"id":12345678901234567890}}]}]}';
  const body = parseExactJson(text) as JsonObject;
  t.equal(JSON.stringify(roundTrip('messages', body)), text);
});

t.test('JSON that is not valid is refused with the place of its message', async (t) => {
  const message = { ...newMessage('assistant'), others: '{"tool_calls": [' };
  t.throws(() => writeMessages('chat', [newMessage('user', 'Hi'), message]), /^Message 2 is not valid JSON/);
});
