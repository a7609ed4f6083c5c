/** Which organization's evaluations are claimed, when many wait. */
import fc from 'fast-check';
import t from 'tap';
import { fairShares } from '../../../../evaluators/queue/claim.ts';
import { claim, LEASE_MS } from '../../../../evaluators/queue/mod.ts';
import { startWorld, type World } from '../../../support/evaluation-queue.ts';
import { rowsRead } from '../../../support/rows-read.ts';
import { ALL, byOrganization } from './claims.ts';

t.test('an organization with ten thousand due evaluations delays no other organization', async (t) => {
  const world = await startWorld(t);
  const [hog, modest] = [await world.organization(), await world.organization()];
  await world.scheduleMany(await world.evaluator(hog), 10_000, { dueInMs: -60_000 });
  await world.scheduleMany(await world.evaluator(modest), 1);

  const { jobs: first } = await claim(world.sql, { ...ALL, limit: 8, roomOfOthers: 4 });
  t.same(byOrganization(first), { [hog]: 4, [modest]: 1 }, 'the next claim includes the modest organization');
  const roomByOrganization = new Map([
    [hog, 0],
    [modest, 3],
  ]);
  const { jobs: second } = await claim(world.sql, { ...ALL, limit: 3, roomOfOthers: 4, roomByOrganization });
  t.same(second, [], 'evaluations that are already held count');
});

t.test('an organization without due work takes no share of a claim', async (t) => {
  const world = await startWorld(t);
  for (let index = 0; index < 60; index += 1) {
    const evaluator = await world.evaluator(await world.organization());
    // An exhausted budget, a retry, and an evaluation held by another process.
    await world.scheduleMany(evaluator, 3, { dueInMs: 3_600_000 });
    await world.scheduleMany(evaluator, 3, { dueInMs: 30_000, priority: 2 });
    await world.scheduleMany(evaluator, 3, { dueInMs: LEASE_MS, state: 'running', attempts: 1 });
  }
  const due = await world.organization();
  await world.scheduleMany(await world.evaluator(due), 40, { priority: 2 });
  for (let round = 0; round < 5; round += 1) {
    const { jobs: claimed } = await claim(world.sql, { ...ALL, limit: 16, roomOfOthers: 8 });
    t.same(byOrganization(claimed), { [due]: 8 });
  }
});

t.test('fairShares distributes max-min fairly, within the limit and the room of each organization', (t) => {
  const organizations = fc.uniqueArray(fc.uuid(), { maxLength: 12 });
  fc.assert(
    fc.property(
      organizations,
      fc.array(fc.nat(6), { maxLength: 12 }),
      fc.nat(40),
      fc.integer({ min: 1, max: 6 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (names, rooms, limit, roomOfOthers, point) => {
        const roomByOrganization = new Map(
          rooms.slice(0, names.length).map((left, index) => [names[index]!, left]),
        );
        const allowed = (name: string) => roomByOrganization.get(name) ?? roomOfOthers;
        const shares = fairShares(names, { limit, roomByOrganization, roomOfOthers }, () => point);
        const given = names.map((name) => shares.get(name) ?? 0);
        const sum = given.reduce((total, share) => total + share, 0);
        const possible = names.reduce((total, name) => total + allowed(name), 0);
        if (sum !== Math.min(limit, possible)) return false;
        // Max-min fair: an organization with at least two fewer than another has all that it may hold.
        const most = Math.max(0, ...given);
        return names.every(
          (name, index) =>
            given[index]! <= allowed(name) && (given[index]! >= most - 1 || given[index] === allowed(name)),
        );
      },
    ),
  );
  t.end();
});

t.test('free capacity goes first to the organizations that hold the least', (t) => {
  const names = fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(
      names,
      fc.array(fc.nat(6), { maxLength: 12 }),
      fc.nat(12),
      fc.nat(99),
      (all, rooms, limit, point) => {
        const roomByOrganization = new Map(
          rooms.slice(0, all.length).map((left, index) => [all[index]!, left]),
        );
        const allowed = (name: string) => roomByOrganization.get(name) ?? 6;
        const shares = fairShares(all, { limit, roomByOrganization, roomOfOthers: 6 }, () => point / 100);
        const passedOver = all.filter((name) => allowed(name) > 0 && !shares.has(name));
        return passedOver.every((name) =>
          [...shares.keys()].every((other) => allowed(other) >= allowed(name)),
        );
      },
    ),
  );
  t.end();
});

t.test('a claim never takes more than its limit, whatever plan Postgres chooses', async (t) => {
  const world = await startWorld(t);
  const evaluator = await world.evaluator(await world.organization());
  const requestIds = await world.requests(evaluator.organizationId, 20);
  // A join may evaluate one side for each row of the other: the result must be the same each time.
  for (const settings of [
    [],
    ['hashjoin'],
    ['hashjoin', 'mergejoin'],
    ['nestloop'],
    ['indexscan', 'bitmapscan'],
  ]) {
    await world.sql`truncate assay.evaluations cascade`;
    await world.schedule(evaluator, requestIds);
    const sql = world.connect(1);
    for (const setting of settings) await sql.unsafe(`set enable_${setting} = off`);
    for (const left of [20, 15, 10, 5]) {
      const { jobs: claimed } = await claim(sql, { ...ALL, limit: 5 });
      t.equal(claimed.length, 5, `of ${left}, without ${settings.join(' and ') || 'nothing'}`);
    }
  }
});

t.test('a claim among many organizations and a long history reads few pages', async (t) => {
  const world = await startWorld(t);
  for (let index = 0; index < 100; index += 1) {
    const evaluator = await world.evaluator(await world.organization());
    await world.scheduleMany(evaluator, 400, { state: 'completed' });
    await world.scheduleMany(evaluator, 400, { dueInMs: 3_600_000 });
  }
  const due = await world.evaluator(await world.organization());
  await world.scheduleMany(due, 20_000, { priority: 2 });
  await world.sql`vacuum (analyze) assay.evaluations`;
  const read = await rowsOfClaim(world);
  t.ok(read < 2_000, `of 100,000 rows it reads ${read}`);
});

/** Claims 16 evaluations, and returns the rows of evaluations that it read. */
async function rowsOfClaim({ sql }: World): Promise<number> {
  const claimed = (inside: World['sql']) => claim(inside, { ...ALL, limit: 16, roomOfOthers: 8 });
  return (await rowsRead(sql, '^evaluations$', claimed)).all;
}

t.test(
  'a claim from the backlogs of several organizations reads few rows once they were analyzed',
  async (t) => {
    const world = await startWorld(t);
    for (let index = 0; index < 8; index += 1) {
      const evaluator = await world.evaluator(await world.organization());
      await world.scheduleMany(evaluator, 2_000, { state: 'completed' });
      await world.scheduleMany(evaluator, 2_000);
    }
    await world.sql`vacuum (analyze) assay.evaluations`;
    const read = await rowsOfClaim(world);
    t.ok(read < 2_000, `of 32,000 rows it reads ${read}`);
  },
);
