/** The previews that ingest stores with a record. */
import t from 'tap';
import { logEntryHead } from '../../support/log-entries.ts';
import { outboxWorld } from './outbox-world.ts';

const QUESTION = JSON.stringify({
  model: 'gpt-4o',
  messages: [{ role: 'user', content: 'What is\n2 + 2? \u0000😀' }],
});
const ANSWER = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'It is 4' } }],
});
const STREAM = [
  '{"choices":[{"index":0,"delta":{"role":"assistant","content":"It is"}}]}',
  '{"choices":[{"index":0,"delta":{"content":" 4"}}]}',
  '[DONE]',
]
  .map((data) => `data: ${data}\n\n`)
  .join('');

t.test('a record has previews of its bodies, and none of an omitted one', async (t) => {
  const { sql, put, ingest } = await outboxWorld(t);
  const CASES = [
    { head: {}, bodies: [QUESTION, ANSWER], previews: ['What is 2 + 2? \ufffd😀', 'It is 4'] },
    {
      head: { stream: true, contentType: 'text/event-stream' },
      bodies: [QUESTION, STREAM],
      previews: ['What is 2 + 2? \ufffd😀', 'It is 4'],
    },
    { head: { omitRequest: true }, bodies: [QUESTION, ANSWER], previews: [null, 'It is 4'] },
    { head: { omitResponse: true }, bodies: [QUESTION, ANSWER], previews: ['What is 2 + 2? \ufffd😀', null] },
    { head: { status: 500 }, bodies: ['<request>', ''], previews: ['<request>', null] },
  ];
  const now = Date.now();
  for (const [index, { head, bodies }] of CASES.entries()) {
    await put(logEntryHead({ ...head, createdAtMs: now + index }), ...(bodies as [string, string]));
  }
  await ingest();
  const rows = await sql<{ preview_in: string | null; preview_out: string | null }[]>`
    select preview_in, preview_out from assay.requests order by created_at`;
  t.strictSame(
    rows.map(({ preview_in, preview_out }) => [preview_in, preview_out]),
    CASES.map(({ previews }) => previews),
  );
});
