import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { asking, create, PATH, put } from './world.ts';

/** More than the buffers of a connection hold, and more than a page of items. */
const ITEMS = 40;
const TEXT = 'x'.repeat(900_000);

let api: TestApi;
let id: string;
t.before(async () => {
  api = await startTestApi(t);
  id = await create(api);
  for (let at = 0; at < ITEMS; at += 1) await put(api, id, [asking(TEXT, { externalId: `item ${at}` })]);
});

async function begin() {
  const abort = new AbortController();
  const response = await fetch(`${api.url}${PATH}/${id}/export`, {
    // Compressed, the items would fit into the buffers.
    headers: { authorization: `Bearer ${api.own.key}`, 'accept-encoding': 'identity' },
    signal: abort.signal,
  });
  return { response, leave: () => abort.abort() };
}

/** Begins an export as soon as the organization may have one more, for at most five seconds. */
async function beginSoon() {
  for (let round = 0; round < 100; round += 1) {
    const begun = await begin();
    if (begun.response.status === 200) return begun;
    await begun.response.text();
    await sleep(50);
  }
  throw new Error('The organization may begin no export');
}

t.test(
  'an organization has two exports of datasets at a time, and one more as soon as one has ended',
  async (t) => {
    const one = await begin();
    const two = await begin();
    t.strictSame([one.response.status, two.response.status], [200, 200]);
    const refused = await begin();
    t.equal(refused.response.status, 429);
    t.match(await refused.response.json(), {
      data: null,
      error: /^The organization has 2 exports of datasets under way/,
    });

    one.leave();
    const three = await beginSoon();
    t.equal(
      (await two.response.text()).split('\n').length - 1,
      ITEMS,
      'an export is whole beside the others',
    );
    const four = await beginSoon();
    three.leave();
    four.leave();
  },
);
