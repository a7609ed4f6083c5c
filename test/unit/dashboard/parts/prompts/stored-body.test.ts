import t from 'tap';
import { readStored, writeStored } from '../../../../../dashboard/parts/prompts/stored-body.ts';

t.test('a body that is not edited is stored as it was', async (t) => {
  const chat = {
    model: 'm',
    messages: [{ role: 'system', content: 'Hi {{name}}' }],
    temperature: 0.5,
    tools: [{}],
  };
  t.same(writeStored(readStored(chat)), chat);
  const messages = { system: 'Hi {{name}}', max_tokens: 5 };
  t.same(writeStored(readStored(messages)), messages, 'of another dialect, without messages');
});

t.test('other fields must be a JSON object', async (t) => {
  const fields = readStored({ model: 'm' });
  t.throws(() => writeStored({ ...fields, others: '[1]' }), /Other fields must be a JSON object/);
  t.throws(() => writeStored({ ...fields, others: '{' }), /Other fields must be a JSON object/);
});
