import t from 'tap';
import { Bodies } from '../../../../../dashboard/parts/record/bodies.ts';
import { bodiesOfTurn } from '../../../../../dashboard/parts/record/turn.ts';

const TURN = {
  request_id: 'r',
  session_path: null,
  created_at: '2026-11-01T00:00:00.000Z',
  status: 200,
  model: 'gpt-4o',
  seen_messages: 2,
  messages: [{ role: 'user', content: 'And now?' }] as unknown[],
  answer: null as unknown,
  is_too_large: false,
};

const texts = (turn: typeof TURN) => {
  const bodies = new Bodies(bodiesOfTurn(turn));
  return (['request', 'response'] as const).map((side) =>
    bodies
      .conversation(side, 0, 10)
      .messages.map(({ role, parts }) => [
        role,
        parts.map((part) => (part.kind === 'text' ? part.text.text : part.kind)),
      ]),
  );
};

t.test("A turn's messages and answer are read as those of a request, in each dialect", async (t) => {
  t.same(texts({ ...TURN, answer: { role: 'assistant', content: 'Then' } }), [
    [['user', ['And now?']]],
    [['assistant', ['Then']]],
  ]);
  t.same(texts({ ...TURN, answer: { role: 'assistant', content: [{ type: 'text', text: 'Claude' }] } })[1], [
    ['assistant', ['Claude']],
  ]);
  t.same(texts({ ...TURN, answer: { role: 'model', parts: [{ text: 'Gemini' }] } })[1], [
    ['assistant', ['Gemini']],
  ]);
  const item = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Item' }] };
  t.same(texts({ ...TURN, answer: [item] })[1], [['assistant', ['Item']]]);
});

t.test('A turn without an answer has none, and a failed one says so', async (t) => {
  t.same(texts(TURN)[1], []);
  const { notice } = new Bodies(bodiesOfTurn({ ...TURN, status: 500 })).conversation('response', 0, 10);
  t.match(notice?.title, 'status 500');
});
