/** Pages of filters that take one of several values of an indexed field, which are read from the lists of each value. */
import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const NOON = Date.UTC(2026, 4, 4, 12);
const USERS = ['ada', 'bob', 'cyd', null, 'ada'];
const MODELS = ['gpt-4o', 'gpt-5', 'o3'];

/** Requests of every user with every model, several at the same moment. */
const REQUESTS = Array.from({ length: 90 }, (_, index) => ({
  request_id: `r${String(index).padStart(2, '0')}`,
  created_at: new Date(NOON + Math.floor(index / 4) * 1_000),
  user_id: USERS[index % USERS.length]!,
  model: MODELS[index % MODELS.length]!,
  status: index % 7 === 0 ? 500 : 200,
}));

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
  await insertRequests(api.database.sql, api.own.organizationId, REQUESTS);
  await insertRequests(api.database.sql, api.other.organizationId, REQUESTS);
});

type Page = { rows: { request_id: string }[]; next: string | null; prev: string | null };

async function pageOf(body: object): Promise<Page> {
  const answer = await api.call('/v1/request/rows', { body: { columns: ['model'], ...body } });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body.data as Page;
}

/** Reads all pages forwards, and then all before the last one backwards. */
async function walk(body: object): Promise<{ forwards: string[]; backwards: string[] }> {
  const idsOf = ({ rows }: Page) => rows.map(({ request_id: id }) => id);
  let page = await pageOf(body);
  const forwards = idsOf(page);
  while (page.next !== null) {
    page = await pageOf({ ...body, after: page.next });
    forwards.push(...idsOf(page));
  }
  let backwards = idsOf(page);
  while (page.prev !== null) {
    page = await pageOf({ ...body, before: page.prev });
    backwards = [...idsOf(page), ...backwards];
  }
  return { forwards, backwards };
}

type Request = (typeof REQUESTS)[number];

const CASES: [q: string, passes: (request: Request) => boolean][] = [
  ['user:(ada OR bob)', ({ user_id: user }) => user === 'ada' || user === 'bob'],
  ['user:(bob OR bob)', ({ user_id: user }) => user === 'bob'],
  ['user:(bob OR nobody)', ({ user_id: user }) => user === 'bob'],
  ['user:(nobody OR "no one")', () => false],
  [
    'status:200 model_used:(gpt-5 OR o3)',
    ({ status, model }) => status === 200 && (model === 'gpt-5' || model === 'o3'),
  ],
  [
    'user:(bob OR cyd) model_used:(gpt-5 OR o3)',
    ({ user_id: user, model }) => (user === 'bob' || user === 'cyd') && model !== 'gpt-4o',
  ],
  ['user:bob OR model_used:o3', ({ user_id: user, model }) => user === 'bob' || model === 'o3'],
];

for (const direction of ['desc', 'asc'] as const) {
  t.test(`pages of one of several values have each request once, in order: ${direction}`, async (t) => {
    for (const [q, passes] of CASES) {
      const wanted = REQUESTS.filter(passes).map(({ request_id: id }) => id);
      if (direction === 'desc') wanted.reverse();
      const { forwards, backwards } = await walk({ q, limit: 7, sort: { created_at: direction } });
      t.same(forwards, wanted, q);
      t.same(backwards, wanted, `${q}, backwards`);
      const count = await api.call('/v1/request/count/query', { body: { q } });
      t.equal(count.body.data, wanted.length, `${q}, counted`);
    }
  });
}
