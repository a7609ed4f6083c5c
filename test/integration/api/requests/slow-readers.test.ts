/** Clients that ask for many large records and read none. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { waitFor } from '../../../support/assay.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

/** Room for the answers of one organization: half of what twice the largest body of items takes. */
const ROOM_OF_ONE = 32 * 1024 * 1024;
const RECORD_BYTES = 3 * 1024 * 1024;

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t, { environment: { BODIES_MEMORY_BYTES: String(1024 * 1024) } });
  for (const { organizationId } of [api.own, api.other]) {
    const text = JSON.stringify({ messages: [], x: randomBytes(RECORD_BYTES / 2).toString('hex') });
    const rows = Array.from({ length: 6 }, () => ({ request_text: text }));
    await insertRequests(api.database.sql, organizationId, rows);
  }
});

t.test('a record that is larger than all that an organization may have is read all the same', async (t) => {
  const text = JSON.stringify({ x: 'x'.repeat(ROOM_OF_ONE + RECORD_BYTES) });
  const [row] = await insertRequests(api.database.sql, api.own.organizationId, [
    { request_text: text, created_at: new Date(Date.now() - 86_400_000) },
  ]);
  const whole = await api.call(`/v1/request/${row!.request_id}`);
  t.equal(whole.status, 200);
  t.ok(whole.text.length > ROOM_OF_ONE);
  const page = await api.call('/v1/request/query-ids', { body: { requestIds: [row!.request_id] } });
  t.equal(page.status, 200);
  t.ok(page.text.length > ROOM_OF_ONE);
});

/** Asks for records, and reads nothing of the answer. */
async function ask(limit: number, { key } = api.own) {
  const leaving = new AbortController();
  const response = await fetch(`${api.url}/v1/request/query`, {
    method: 'POST',
    // Compressed, they would fit into the buffers of the connection.
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    },
    body: JSON.stringify({ filter: 'all', limit }),
    signal: leaving.signal,
  });
  return { response, status: response.status, leave: () => leaving.abort() };
}

for (const [what, limit, bytes] of [
  ['records in one piece', 2, 2 * RECORD_BYTES],
  ['records one by one', 6, 8 * 1024 * 1024],
] as const) {
  t.test(
    `${what} that nobody reads take no more memory than an organization may have, and keep no other waiting`,
    async (t) => {
      const most = Math.floor(ROOM_OF_ONE / bytes);
      const unread = [];
      for (let count = 0; count < most; count += 1) unread.push(await ask(limit));
      t.strictSame([...new Set(unread.map(({ status }) => status))], [200]);
      const refused = await ask(limit);
      t.equal(refused.status, 503);
      t.equal(refused.response.headers.get('retry-after'), '5');
      t.match(await refused.response.json(), {
        data: null,
        error: /^There was no memory for the bodies of this call/,
      });
      t.equal(
        (await api.call('/v1/request/count/query', { body: { filter: 'all' } })).status,
        200,
        'small answers need none',
      );
      const other = await ask(limit, api.other);
      t.equal(((await other.response.json()) as { data: unknown[] }).data.length, limit);
      t.equal(
        ((await unread[0]!.response.json()) as { data: unknown[] }).data.length,
        limit,
        'what was begun is whole',
      );
      for (const { leave } of unread.slice(1)) leave();
      await waitFor('room again', async () => {
        const { status, leave } = await ask(limit);
        leave();
        return status === 200;
      });
    },
  );
}
