/** The commands that compare roll-ups with their rows and make them again. */
import t from 'tap';
import { runMain } from '../../support/assay.ts';
import { applyAllChanges, noteStored, recomputeAll, registerRollups } from '../../support/rollups.ts';
import { insertRequests } from '../../support/seed-requests.ts';
import { databaseFor } from '../../support/world.ts';

const { sql, url } = await databaseFor(t);
const DAY_MS = 86_400_000;
const createdAt = new Date(Math.floor(Date.now() / DAY_MS - 3) * DAY_MS + 1);

async function command(...parameters: string[]) {
  const run = runMain(['rollups', ...parameters], { DATABASE_URL: url });
  const { code } = await run.ended;
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}

async function insert(name: string): Promise<void> {
  const [row] = await sql<{ id: string }[]>`
    insert into assay.organizations (name) values (${name}) returning organization_id as id`;
  const [seeded] = await insertRequests(sql, row!.id, [
    { created_at: createdAt, user_id: 'ann', scores: { helpful: 1 } },
  ]);
  await sql.begin((tx) =>
    noteStored(tx, [{ organizationId: row!.id, createdAt, requestId: seeded!.request_id }]),
  );
}

t.test('before the sinks have ever run there is nothing to check', async (t) => {
  await insert('acme');
  const { code, stderr } = await command('check');
  t.equal(code, 1);
  t.equal(stderr, 'There are no roll-ups yet: they are made while ingest runs\n');
});

t.test('a check of roll-ups that equal their rows says so, family by family', async (t) => {
  await registerRollups(sql);
  await applyAllChanges(sql);
  await recomputeAll(sql);
  const { code, stdout, stderr } = await command('check');
  t.equal(code, 0, stderr);
  const [header = '', ...lines] = stdout.split('\n');
  t.match(header, /^ORGANIZATION +FAMILY +GRAIN +COMPARED +STALE +DIFFERENT +WHICH$/);
  t.match(
    lines.join('\n'),
    /acme +totals +half hour +1 +0 +0\nacme +totals +3 hours +1 +0 +0\nacme +totals +day +1 +0 +0\n/,
  );
  t.match(lines.at(-2), /^The roll-ups equal their rows$/);
});

t.test('a stale bucket is not compared, because no query reads it', async (t) => {
  await insert('beta');
  const { code, stdout } = await command('check', '--organization', 'beta');
  t.equal(code, 0);
  t.match(stdout, /beta +totals +day +0 +1 +0\n/);
  t.notMatch(stdout, 'acme');
});

t.test('a bucket that does not equal its rows is named, and a rebuild repairs it', async (t) => {
  // As somebody who changes rows by hand.
  await sql`update assay.requests set status = 500 where organization_id = (
              select organization_id from assay.organizations where name = 'acme')`;
  const found = await command('check', '--organization', 'acme');
  t.equal(found.code, 1);
  t.match(
    found.stdout,
    new RegExp(`acme +totals +day +1 +0 +1 +${new Date(createdAt.getTime() - 1).toISOString()}\n`),
  );
  t.match(
    found.stderr,
    /5 buckets of roll-ups do not equal their rows: `npm start -- rollups rebuild --organization acme` makes them again\n$/,
  );
  const rebuilt = await command('rebuild', '--organization', 'acme');
  t.equal(rebuilt.code, 0, rebuilt.stderr);
  t.equal(rebuilt.stdout, 'Recomputed 7 buckets\n');
  t.equal((await command('check', '--organization', 'acme')).code, 0);
});

t.test('an organization that is not there is refused', async (t) => {
  const { code, stderr } = await command('rebuild', '--organization', 'nobody');
  t.equal(code, 1);
  t.equal(stderr, 'There is no organization called "nobody"\n');
});
