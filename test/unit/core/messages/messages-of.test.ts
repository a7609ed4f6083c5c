import t from 'tap';
import { answerOf, messagesOf } from '#core/messages/mod.ts';

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });

t.test(
  "Anthropic's system, Responses' instructions and items, prompts and Gemini's contents are read",
  async (t) => {
    t.same(messagesOf({ system: 'be kind', messages: [user('a')] }), [
      { role: 'system', content: 'be kind' },
      user('a'),
    ]);
    t.same(messagesOf({ instructions: 'i', input: 'a' }), [{ role: 'system', content: 'i' }, user('a')]);
    t.same(messagesOf({ prompt: ['a', 'b'] }), [user('a'), user('b')]);
    t.same(messagesOf({ contents: [{ parts: [{ text: 'a' }] }] }), [{ parts: [{ text: 'a' }] }]);
    const items = [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hi' }], id: 'm1' },
    ];
    t.same(answerOf({ output: items }), items);
    t.same(answerOf({ candidates: [{ content: { role: 'model', parts: [] } }] }), {
      role: 'model',
      parts: [],
    });
    t.same(
      answerOf({
        choices: [
          { index: 1, text: 'b' },
          { index: 0, text: 'a' },
        ],
      }),
      assistant('a'),
    );
  },
);

t.test('bodies that are no conversation have no messages and no answer', async (t) => {
  for (const body of [null, 'x', 5, [], {}, { messages: null }]) {
    t.same(messagesOf(body), []);
    t.equal(answerOf(body), null);
  }
  t.equal(answerOf({ error: { message: 'no' } }), null);
  t.same(messagesOf({ messages: [null, 5, 'a', []] }), [null, 5, user('a'), []], 'odd messages are kept');
});
