/** Bodies to log that are too large to be parsed whole. */
import t from 'tap';
import { readText } from '../../../../api/log/text.ts';
import { ANSWER, call, LOG, startLogWorld } from './world.ts';

const MIB = 1024 * 1024;
const { api, record, ingest } = await startLogWorld(t);
const long = 'x'.repeat(100_000);

t.test('a text longer than a slice is read as JSON.parse reads it, wherever slices end', async (t) => {
  const pieces = ['é', '日', '🚀', '\\n', '\\\\', '\\"', '\\u00e9', '\\ud83d\\ude80', '\\ud83d', '\\ude80'];
  for (const piece of pieces) {
    for (let shift = 0; shift < 12; shift += 1) {
      const written = `"${'\\t'}${'a'.repeat(shift)}${piece.repeat(Math.ceil(MIB / Buffer.byteLength(piece)))}"`;
      const read = await readText(Buffer.from(written));
      if (!read.equals(Buffer.from(JSON.parse(written)))) t.fail(`${piece} behind ${shift} others`);
    }
  }
  t.pass();
});

t.test('a large logged body is kept as written, and the last of two users in it counts', async (t) => {
  const user = 'ada \\ud83d\\ude80';
  const request = `{"seed": 12345678901234567890, "user" : "bob", "x":"${long}", "\\u0075ser": "${user}"}`;
  const given = JSON.stringify(call({ properties: { team: 'a' }, session_id: 's' }));
  const raw = given.replace('{"messages":[{"role":"user","content":"Hello"}]}', request);
  const answer = await api.call(LOG, { raw: `\ufeff${raw}` });
  t.equal(answer.status, 200, answer.text);
  await ingest();
  const { request_id: id } = answer.body.data as { request_id: string };
  const [stored] = await api.database.sql<{ user_id: string; session_id: string; request_raw: Buffer }[]>`
    select user_id, session_id, request_raw
      from assay.requests join assay.bodies using (organization_id, created_at, request_id)
     where request_id = ${id}`;
  t.match(stored, { user_id: 'ada 🚀', session_id: 's' });
  t.equal(stored!.request_raw.toString(), request);
});

t.test('the record of a large logged call has its bodies, its user and its properties', async (t) => {
  const body = { messages: [], user: 'ada', x: long };
  const stored = await record(call({ request: { body, created_at: call().request.created_at } }));
  t.strictSame(stored.request_body, body);
  t.strictSame(stored.response_body, ANSWER);
  t.equal(stored.request_user_id, 'ada');
});

t.test('a large logged stream is assembled, and marked as truncated if it broke off', async (t) => {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const text = chunk({ role: 'assistant', content: long }, null) + chunk({ content: '!' }, null);
  const whole = await record(call({}, { body: `${text}${chunk({}, 'stop')}data: [DONE]\n\n` }));
  t.match(whole.response_body, { choices: [{ message: { content: `${long}!` } }] });
  const torn = await record(call({}, { body: text }));
  t.match(torn.response_body, { choices: [{ message: { content: `${long}!` } }] });
});

/** The fault of a large body, and the exact sentence of the refusal. */
const REFUSED: readonly [what: string, raw: string, status: number, sentence: string][] = [
  [
    'a name twice beside the bodies',
    JSON.stringify(call({ user_id: 'a' }))
      .replace('Hello', long)
      .replace('"user_id"', '"model":"m","user_id"'),
    400,
    'The body names "model" twice in one object: only one of them could count',
  ],
  [
    'half of it',
    JSON.stringify(call()).replace('Hello', long).slice(0, 100_050),
    400,
    'The body is not valid JSON: it ends too early, at byte 100050',
  ],
  [
    'a comma too many',
    JSON.stringify(call()).replace('Hello', long).replace(/\}$/, ',}'),
    400,
    `The body is not valid JSON, from byte ${JSON.stringify(call()).length - 5 + 100_000} on`,
  ],
  [
    'a list in place of a body',
    JSON.stringify(call()).replace(/"body":\{"messages".*?\]\}/, `"body":["${long}"]`),
    400,
    'request.body must be an object, but is []',
  ],
  [
    'more values beside the bodies than allowed',
    JSON.stringify(call({ properties: { a: Array(60_000).fill(0) } })),
    400,
    'The body holds 60012 values, of which at most 50000 are allowed',
  ],
  [
    'properties that are too long together',
    JSON.stringify(call({ properties: { a: 'x'.repeat(9 * MIB) } })),
    413,
    'The body without request.body, response.body, inputs, expected is larger than the 8388608 bytes allowed',
  ],
  [
    'a user of the request that is too long',
    JSON.stringify(call()).replace('"messages"', `"user":"${long}","messages"`),
    400,
    'request.body.user must have at most 1024 bytes as UTF-8',
  ],
];
for (const [what, raw, status, sentence] of REFUSED) {
  t.test(`a large body with ${what} is refused with ${status}`, async (t) => {
    const answer = await api.call(LOG, { raw });
    t.equal(answer.status, status);
    t.equal(answer.body.error, sentence);
  });
}
