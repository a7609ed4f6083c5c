/** Counts that stop at a number. */
import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
  await insertRequests(
    api.database.sql,
    api.own.organizationId,
    Array.from({ length: 6 }, (_, index) => ({
      status: index < 4 ? 200 : 500,
      properties: { plan: index < 5 ? 'pro' : 'free' },
      ...(index < 3 && { scores: { good: index, fair: 1 } }),
    })),
  );
  await insertRequests(api.database.sql, api.other.organizationId, [{}, {}]);
});

async function count(body: object): Promise<unknown> {
  const answer = await api.call('/v1/request/count/query', { body });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body.data;
}

t.test('a count stops at atMost, and says that there are at least so many', async (t) => {
  const CASES: [object, number][] = [
    [{ filter: 'all' }, 6],
    [{ filter: { response: { status: { equals: 200 } } } }, 4],
    [{ filter: { response: { status: { gte: 500 } } } }, 2],
    [{ filter: { properties: { plan: { equals: 'pro' } } } }, 5],
    [{ filter: { scores: { good: { gte: 1 } } } }, 2],
    [{ filter: 'all', isScored: true }, 3],
    [{ q: 'status:200' }, 4],
  ];
  for (const [body, all] of CASES) {
    t.equal(await count(body), all, JSON.stringify(body));
    for (let atMost = 1; atMost <= all + 1; atMost += 1) {
      const expected = { count: Math.min(all, atMost), atLeast: atMost <= all };
      t.strictSame(await count({ ...body, atMost }), expected, `${JSON.stringify(body)}, at most ${atMost}`);
    }
  }
  t.strictSame(await count({ filter: { response: { status: { equals: 418 } } }, atMost: 1 }), {
    count: 0,
    atLeast: false,
  });
});

t.test('atMost is a whole number from 1 to a million', async (t) => {
  for (const atMost of [0, -1, 1.5, 1_000_001, '10', null]) {
    const { status, body } = await api.call('/v1/request/count/query', { body: { filter: 'all', atMost } });
    t.equal(status, 400, String(atMost));
    t.match(body.error, /^atMost must be /);
  }
});
