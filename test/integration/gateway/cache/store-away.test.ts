import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { waitFor } from '../../../support/assay.ts';
import { askFor, cacheWorld } from './world.ts';

t.test(
  'while Postgres is unavailable the memory cache works, all else is a miss, and nothing fails',
  async (t) => {
    const world = await cacheWorld(t);
    const cache = world.cache();
    cache.store(askFor('known'), world.answer('known'));
    await world.stored(1);
    await world.proxy.cut();
    t.ok(cache.find(askFor('known')));
    world.advance(120_000);
    t.equal(
      (await cache.find(askFor('known')))?.body.toString(),
      'known',
      'also when it would have asked again',
    );
    t.equal(await cache.find(askFor('unknown')), null);
    const lead = await cache.coalesce(askFor('unknown'));
    t.equal(lead.isLeader, true, 'and there is nobody to wait for');
  },
);

t.test('during an outage of Postgres one call waits for the timeout, and later calls do not', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache({ patienceMs: 250 });
  await cache.find(askFor('first'));
  world.advance(1_000);
  world.proxy.freeze();
  const startedAt = performance.now();
  t.equal(await cache.find(askFor('a')), null);
  const firstMs = performance.now() - startedAt;
  t.ok(firstMs > 200 && firstMs < 5_000, `${firstMs.toFixed(0)} ms`);
  const laterAt = performance.now();
  for (let call = 0; call < 500; call += 1) await cache.find(askFor(`${call}`));
  t.ok(performance.now() - laterAt < 5_000, 'each a quarter of a second would be two minutes');
  world.proxy.thaw();
});

t.test('responses stored while Postgres is unavailable are written once it is back', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache();
  await world.proxy.cut();
  for (let number = 0; number < 10; number += 1) cache.store(askFor(`${number}`), world.answer(`${number}`));
  await sleep(200);
  await world.proxy.restore();
  await world.stored(10);
  t.equal(cache.counts.dropped, 0);
});

t.test(
  'responses that wait for an unavailable store are kept up to a bound, and the rest is dropped and counted',
  async (t) => {
    const world = await cacheWorld(t);
    const cache = world.cache({ maxQueuedBytes: 100_000 });
    await world.proxy.cut();
    const body = Buffer.alloc(9_000);
    for (let number = 0; number < 25; number += 1)
      cache.store(askFor(`${number}`), world.answer('', { body }));
    t.equal(cache.counts.dropped, 15);
    t.ok(cache.find(askFor('24')), 'memory has them all the same');
    await world.proxy.restore();
    await world.stored(10);
    for (let number = 0; number < 10; number += 1)
      cache.store(askFor(`later ${number}`), world.answer('', { body }));
    await world.stored(20);
    t.equal(cache.counts.dropped, 15, 'and there is room again');
  },
);

t.test('a stopping gateway does not wait for an unavailable Postgres', async (t) => {
  const world = await cacheWorld(t);
  for (const outage of ['cut', 'freeze'] as const) {
    const cache = world.cache({ patienceMs: 250 });
    await cache.find(askFor('warm'));
    await world.proxy[outage]();
    for (let number = 0; number < 20; number += 1)
      cache.store(askFor(`${number}`), world.answer(`${number}`));
    const startedAt = performance.now();
    await cache.stop(outage === 'cut' ? 60_000 : 1_000);
    const tookMs = performance.now() - startedAt;
    t.ok(tookMs < 20_000, `${outage}: ${tookMs.toFixed(0)} ms`);
    t.equal(cache.counts.dropped, 20);
    if (outage === 'cut') await world.proxy.restore();
    else world.proxy.thaw();
  }
});

t.test('a response that Postgres refuses is dropped, and delays no other', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache();
  await world.sql`alter table assay.cached_answers add check (status <> 299)`;
  cache.store(askFor('refused'), world.answer('', { status: 299 }));
  cache.store(askFor('accepted'), world.answer(''));
  await world.stored(1);
  await waitFor('the refusal to be counted', () => cache.counts.dropped === 1);
});
