import t from 'tap';
import { messageTexts, pairMessages } from '../../../../../dashboard/pages/prompt/message-texts.ts';
import { splitVariables } from '../../../../../dashboard/pages/prompt/split-variables.ts';

t.test('the variables of a version are marked, and no other text in braces', async (t) => {
  const pieces = splitVariables('Hi {{name}}, {{ hc:n : number }} {{other}} {{#if}}', new Set(['name', 'n']));
  t.same(
    pieces.filter(({ isVariable }) => isVariable).map(({ text }) => text),
    ['{{name}}', '{{ hc:n : number }}'],
  );
  t.equal(pieces.map(({ text }) => text).join(''), 'Hi {{name}}, {{ hc:n : number }} {{other}} {{#if}}');
});

t.test('messages of two bodies are compared by their places, tool calls as JSON', async (t) => {
  const before = messageTexts({ messages: [{ role: 'user', content: 'a' }] });
  const after = messageTexts({
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'b' }] },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] },
    ],
  });
  const [first, second] = pairMessages(before, after);
  t.same(first, { before: { role: 'user', text: 'a' }, after: { role: 'user', text: 'b' } });
  t.equal(second!.before, null);
  t.match(second!.after!.text, '"id": "c"');
});
