import t from 'tap';
import { answerOf, messagesOf } from '#core/messages/mod.ts';
import { countSeen, shownBy } from '#core/sessions/conversation.ts';

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });

/** Returns how many messages of the second body the first request and its answer have shown. */
function seenAfter(first: unknown, answer: unknown, second: unknown): number {
  return countSeen(messagesOf(second), [shownBy(messagesOf(first), answerOf(answer))]);
}

t.test('a chat completion that sends the conversation back has shown all but the new message', async (t) => {
  const answer = {
    choices: [{ index: 0, message: { ...assistant('hi'), refusal: null, annotations: [] } }],
  };
  const first = { messages: [{ role: 'system', content: 'be kind' }, user('hello')] };
  const second = { messages: [...first.messages, assistant('hi'), user('bye')] };
  t.equal(seenAfter(first, answer, second), 3);
  t.equal(seenAfter(first, answer, first), 2, 'a repeated request shows nothing new');
  t.equal(seenAfter(first, answer, { messages: [user('hello')] }), 0, 'other beginnings are new');
  const edited = { messages: [first.messages[0], user('hello again')] };
  t.equal(seenAfter(first, answer, edited), 1, 'a message that was changed is new, what is before it is not');
});

t.test('a text and the same text as a single part are the same message', async (t) => {
  const parts = [{ type: 'text', text: 'hello', cache_control: { type: 'ephemeral' } }];
  t.equal(seenAfter({ messages: [user('hello')] }, {}, { messages: [user(parts)] }), 1);
});

t.test('a tool call and its result are recognized, in both dialects of calls', async (t) => {
  const call = (id: string) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
  });
  const first = { messages: [user('x')] };
  const answered = { choices: [{ message: call('1') }] };
  const result = { role: 'tool', tool_call_id: '1', content: '5' };
  t.equal(seenAfter(first, answered, { messages: [user('x'), call('1'), result] }), 2);
  t.equal(seenAfter(first, answered, { messages: [user('x'), call('2'), result] }), 1, 'another call is new');
  const used = [{ type: 'tool_use', id: 't1', name: 'f', input: {} }];
  const second = {
    messages: [user('x'), assistant(used), user([{ type: 'tool_result', tool_use_id: 't1' }])],
  };
  t.equal(seenAfter(first, { type: 'message', role: 'assistant', content: used }, second), 2);
});

t.test("items of Responses' output and messages that are no objects are compared, too", async (t) => {
  const items = [
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hi' }], id: 'm1' },
  ];
  const second = { input: [user('a'), assistant('hi'), user('b')] };
  t.equal(seenAfter({ input: 'a' }, { output: items }, second), 2);
  t.equal(seenAfter({ messages: [null, 5] }, {}, { messages: [null, 5, 6] }), 2);
});
