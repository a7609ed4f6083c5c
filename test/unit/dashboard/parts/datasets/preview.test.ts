import t from 'tap';
import { requestPreview, valuePreview } from '../../../../../dashboard/parts/datasets/preview.ts';

t.test('a request is told by its last message of a user', async (t) => {
  const messages = [
    { role: 'system', content: 'Help' },
    { role: 'user', content: 'First' },
    { role: 'user', content: [{ type: 'text', text: 'May I?' }, { type: 'image_url' }] },
    { role: 'assistant', content: 'Yes' },
  ];
  t.equal(requestPreview({ messages }), 'May I? [image_url]');
  t.equal(requestPreview({ messages: [{ role: 'tool', content: 'x' }] }), 'x');
  t.equal(requestPreview({ messages: [{ role: 'assistant', content: null }] }), 'null');
});

t.test('a request without messages is told by its inputs', async (t) => {
  t.equal(requestPreview({ inputs: { company: 'Acme' } }), '{"company":"Acme"}');
  t.equal(requestPreview({}), '');
});

t.test('a long value is cut, and a text has no quotes', async (t) => {
  t.equal(valuePreview('Yes'), 'Yes');
  t.equal(valuePreview(null), 'null');
  t.equal(valuePreview(undefined), '');
  t.equal(valuePreview('x'.repeat(500)).length, 241);
});
