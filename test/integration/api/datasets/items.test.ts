import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { ask, asking, create, itemsOf, type Page, put, versionsOf } from './world.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

t.test('a call that changes anything makes one version, and the same call again makes none', async (t) => {
  const id = await create(api);
  const items = [
    asking('one', { externalId: 'a', expected: 'yes', metadata: { level: 1 }, split: 'test', cluster: 'c' }),
    asking('two', { externalId: 'b', expected: null }),
    asking('three'),
    asking('three'),
  ];
  t.same(await put(api, id, items), { version: 1, added: 4, changed: 0, unchanged: 0, removed: 0 });
  t.same(await put(api, id, items), { version: 1, added: 0, changed: 0, unchanged: 4, removed: 0 });
  const stored = await itemsOf(api, id);
  t.same(
    stored.map(({ id: _, metadata, ...rest }) => ({
      ...rest,
      ...(rest.externalId === 'a' ? { metadata } : {}),
    })),
    items,
    'in their order, with a null that is expected, and without members that were not sent',
  );
  t.same(await put(api, id, stored), { version: 1, added: 0, changed: 0, unchanged: 4, removed: 0 });
});

t.test('an item with the name or the id of one that is there takes its place and keeps its id', async (t) => {
  const id = await create(api);
  await put(api, id, [asking('one', { externalId: 'a' }), asking('two')]);
  const [first, second] = await itemsOf(api, id);
  const changes = await put(api, id, [
    asking('ONE', { externalId: 'a' }),
    asking('TWO', { id: second!.id, externalId: 'b' }),
  ]);
  t.same(changes, { version: 2, added: 0, changed: 2, unchanged: 0, removed: 0 });
  t.same(await itemsOf(api, id), [
    { ...asking('ONE'), id: first!.id, externalId: 'a', metadata: {} },
    { ...asking('TWO'), id: second!.id, externalId: 'b', metadata: {} },
  ]);
  await put(api, id, [asking('Two', { id: second!.id })]);
  t.equal((await itemsOf(api, id))[1]!.externalId, 'b', 'a name stays when it is not sent');
  t.same(
    (await itemsOf(api, id, { version: 1 })).map(({ request }) => request),
    [asking('one').request, asking('two').request],
  );
});

t.test('replace removes the items that a call does not name, within a split if it has one', async (t) => {
  const id = await create(api);
  await put(api, id, [
    asking('1', { externalId: 'a', split: 'train' }),
    asking('2', { externalId: 'b', split: 'test' }),
    asking('3', { externalId: 'c', split: 'test' }),
  ]);
  const split = { replace: true, split: 'test' };
  t.same(await put(api, id, [asking('3', { externalId: 'c' }), asking('4', { externalId: 'd' })], split), {
    version: 2,
    added: 1,
    changed: 0,
    unchanged: 1,
    removed: 1,
  });
  t.same(
    (await itemsOf(api, id)).map(({ externalId, split }) => [externalId, split]),
    [
      ['a', 'train'],
      ['c', 'test'],
      ['d', 'test'],
    ],
  );
  t.match(await put(api, id, [], { replace: true }), { version: 3, removed: 3 });
  t.same(await itemsOf(api, id), []);
  t.equal((await itemsOf(api, id, { version: 2 })).length, 3);
});

t.test('removed items are in earlier versions only; unknown names remove nothing', async (t) => {
  const id = await create(api);
  await put(api, id, [asking('1', { externalId: 'a' }), asking('2'), asking('3')]);
  const [, second] = await itemsOf(api, id);
  const path = `/${id}/items/remove`;
  t.same(await ask(api, path, { ids: ['unknown'], externalIds: ['b'] }), { version: 1, removed: 0 });
  t.same(await ask(api, path, { ids: [second!.id], externalIds: ['a'] }), { version: 2, removed: 2 });
  t.equal((await itemsOf(api, id)).length, 1);
  t.equal((await itemsOf(api, id, { version: 1 })).length, 3);
  t.match(await ask(api, `/${id}/items/${second!.id}?version=1`), { id: second!.id });
  const gone = await api.call(`/v1/dataset/${id}/items/${second!.id}`);
  t.same([gone.status, gone.body.error], [404, `There is no item with the id "${second!.id}"`]);
  t.match(
    await put(api, id, [asking('2', { id: second!.id })]),
    { version: 3, added: 1 },
    'and may come back',
  );
});

t.test('a request comes back with the order of its members, long numbers and escapes', async (t) => {
  const id = await create(api);
  const request = '{"z":1,"seed":12345678901234567890,"2":0.10,"1":"\\u0000\\ud800 a","messages":[]}';
  const expected = '{"b":1e400,"__proto__":{"a":-0.0}}';
  const spaced = request.replaceAll(',', ' ,\n\t');
  const raw = `{"items":[{"request": ${spaced}, "expected" :${expected}, "metadata":{"k":1.0} }]}`;
  t.equal((await api.call(`/v1/dataset/${id}/items`, { raw })).status, 200);
  const { text } = await api.call(`/v1/dataset/${id}/items/query`, { body: {} });
  t.ok(text.includes(`"request":${request},"expected":${expected},"metadata":{"k":1.0}}`), text);
  const again = raw.replace('"request": ', '"request":');
  t.match((await api.call(`/v1/dataset/${id}/items`, { raw: again })).body.data, {
    version: 1,
    unchanged: 1,
  });
});

t.test('a query finds items by split, cluster and a part of their texts, page by page', async (t) => {
  const id = await create(api);
  const items = Array.from({ length: 30 }, (_, index) =>
    asking(`Question ${index} 100%`, {
      externalId: `name-${index}`,
      expected: index % 10 === 0 ? 'Ünique' : 'x',
      split: index % 2 === 0 ? 'test' : 'train',
      cluster: `c${index % 3}`,
    }),
  );
  await put(api, id, items);
  const found = async (query: object) =>
    (await itemsOf(api, id, { limit: 7, ...query })).map(({ externalId }) => Number(externalId!.slice(5)));
  t.same(await found({}), [...items.keys()]);
  t.same(await found({ split: 'train', cluster: 'c0' }), [3, 9, 15, 21, 27]);
  t.same(await found({ search: 'ünIQUE' }), [0, 10, 20]);
  t.same(await found({ search: 'NAME-7' }), [7]);
  t.same(await found({ search: 'question 29 100%' }), [29]);
  t.same(await found({ search: '100_' }), []);
});

t.test('a page of large items ends early, and the next one goes on', async (t) => {
  const id = await create(api);
  const large = 'x'.repeat(900_000);
  for (let index = 0; index < 12; index += 4) {
    await put(
      api,
      id,
      [0, 1, 2, 3].map((one) => asking(`${index + one} ${large}`)),
    );
  }
  const first = await ask<Page>(api, `/${id}/items/query`, { limit: 200 });
  t.equal(first.items.length, 10);
  t.equal((await itemsOf(api, id)).length, 12);
});

t.test('versions tell their number of items, message, and who made them, the newest first', async (t) => {
  const id = await create(api);
  await put(api, id, [asking('1')], { message: 'first' });
  await put(api, id, [asking('2')], { message: 'second' });
  t.match(await versionsOf(api, id), [
    { version: 2, items: 2, message: 'second', created_by: String, content_sha256: /^[0-9a-f]{64}$/ },
    { version: 1, items: 1, message: 'first' },
  ]);
  const page = await ask(api, `/${id}/versions?limit=1`);
  t.match(page, { versions: [{ version: 2 }], next: '2' });
  t.match(await ask(api, `/${id}/versions?limit=1&after=2`), { versions: [{ version: 1 }], next: null });
  const unknown = await api.call(`/v1/dataset/${id}/items/query`, { body: { version: 3 } });
  t.same([unknown.status, unknown.body.error], [404, `The dataset ${id} has no version 3: its newest is 2`]);
});

t.test('equal content has equal hashes, however it came about, and other content another', async (t) => {
  const [a, b] = [await create(api), await create(api)];
  const items = [asking('1', { externalId: 'x' }), asking('2'), asking('3', { expected: 1 })];
  await put(api, a, items);
  await put(api, b, [asking('to change', { externalId: 'x' })]);
  for (const item of items.toReversed()) await put(api, b, [item]);
  const hash = async (id: string) => (await versionsOf(api, id))[0]!.content_sha256;
  t.equal(await hash(a), await hash(b));
  await put(api, b, [asking('3', { expected: 2 })]);
  t.not(await hash(a), await hash(b));
});

t.test('a diff lists what was added, changed and removed, in both directions', async (t) => {
  const id = await create(api);
  await put(api, id, [
    asking('same', { externalId: 'a' }),
    asking('old', { externalId: 'b' }),
    asking('gone', { externalId: 'c' }),
    asking('and back', { externalId: 'd' }),
  ]);
  await put(api, id, [asking('new', { externalId: 'b' }), asking('and forth', { externalId: 'd' })]);
  await ask(api, `/${id}/items/remove`, { externalIds: ['c'] });
  await put(api, id, [asking('added', { externalId: 'e' }), asking('and back', { externalId: 'd' })]);
  const diff = await ask<Record<string, unknown>>(api, `/${id}/diff`, { from: 1, to: 4 });
  t.match(diff, {
    added: 1,
    changed: 1,
    removed: 1,
    items: [
      { externalId: 'b', change: 'changed', before: asking('old'), after: asking('new') },
      { externalId: 'c', change: 'removed', before: asking('gone'), after: null },
      { externalId: 'e', change: 'added', before: null, after: asking('added') },
    ],
    next: null,
  });
  t.match(await ask(api, `/${id}/diff`, { from: 4, to: 1 }), { added: 1, changed: 1, removed: 1 });
  t.match(await ask(api, `/${id}/diff`, { from: 0, to: 1 }), { added: 4, changed: 0, removed: 0 });
  const { items, next } = await ask<{ items: object[]; next: string }>(api, `/${id}/diff`, {
    from: 1,
    to: 4,
    limit: 2,
  });
  t.equal(items.length, 2);
  t.match(await ask(api, `/${id}/diff`, { from: 1, to: 4, limit: 2, after: next }), {
    items: [{ externalId: 'e' }],
    next: null,
  });
});
