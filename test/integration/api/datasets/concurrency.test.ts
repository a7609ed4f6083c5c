/** Writers of one dataset at once, in two processes. */
import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { createWorld } from '../../../support/world.ts';
import { ask, asking, type Changes, create, itemsOf, PATH, put, versionsOf } from './world.ts';

let api: TestApi;
let urls: string[];
t.before(async () => {
  api = await startTestApi(t);
  urls = [api.url, (await (await createWorld(t, api.database)).start('api')).url];
});

/** Calls by both processes in turn. */
async function call(index: number, path: string, body: object): Promise<{ status: number; data: Changes }> {
  const response = await fetch(`${urls[index % 2]}${PATH}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.own.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, data: ((await response.json()) as { data: Changes }).data };
}

const many = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

t.test('20 writers at once make 20 versions, and no item is lost', async (t) => {
  const id = await create(api);
  const answers = await many(20, (index) =>
    call(index, `/${id}/items`, { items: [asking(`${index}`, { externalId: `${index}` }), asking('same')] }),
  );
  t.same(
    answers.map(({ data }) => data.version).toSorted((a, b) => a - b),
    [...Array(20).keys()].map((n) => n + 1),
  );
  t.equal((await itemsOf(api, id)).length, 21, 'the nameless item is there once');
  const items = (await versionsOf(api, id)).map((one) => one.items);
  t.same(
    items,
    [...Array(20).keys()].map((n) => 21 - n),
    'each version has one more than the one before',
  );
});

t.test('of ten writers of the same items, one makes a version', async (t) => {
  const id = await create(api);
  const items = [asking('a', { externalId: 'a' }), asking('b'), asking('b')];
  const answers = await many(10, (index) => call(index, `/${id}/items`, { items }));
  t.same([...new Set(answers.map(({ data }) => data.version))], [1]);
  t.equal(answers.filter(({ data }) => data.added === 3).length, 1);
  t.equal(answers.filter(({ data }) => data.unchanged === 3).length, 9);
});

t.test('an item that is removed and changed at once is one of both, never two', async (t) => {
  const id = await create(api);
  for (let round = 0; round < 5; round += 1) {
    await put(api, id, [asking(`${round}`, { externalId: 'x' })]);
    await Promise.all([
      call(0, `/${id}/items/remove`, { externalIds: ['x'] }),
      call(1, `/${id}/items`, { items: [asking(`changed ${round}`, { externalId: 'x' })] }),
    ]);
    const left = await itemsOf(api, id);
    t.ok(left.length <= 1);
    const { items } = await ask<{ items: number }>(api, `/${id}`);
    t.equal(items, left.length, 'and the version counts right');
  }
});

t.test('of ten datasets of one name at once, one is made', async (t) => {
  const answers = await many(10, (index) => call(index, '', { name: 'wanted by ten' }));
  t.same(answers.map(({ status }) => status).toSorted(), [200, ...Array(9).fill(409)]);
});
