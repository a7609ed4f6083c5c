import t, { type Test } from 'tap';
import type { Sql } from '#platform/postgres/mod.ts';
import { runMain } from '../../support/assay.ts';
import { logEntryHead, TEST_ORGANIZATION } from '../../support/log-entries.ts';
import { databaseFor } from '../../support/world.ts';

async function setUp(t: Test) {
  const { sql, url } = await databaseFor(t);
  await sql`insert into assay.organizations (organization_id, name) values (${TEST_ORGANIZATION}, 'acme')`;
  const command = async (...parameters: string[]) => {
    const run = runMain(['dead-letters', ...parameters], { DATABASE_URL: url });
    const { code } = await run.ended;
    return { code, stdout: run.stdout(), stderr: run.stderr() };
  };
  return { sql, command };
}

type Letter = { head?: string; request?: string | Buffer; response?: string | Buffer; reason?: string };

/** Puts a letter there with bytes written out by hand, as they have to stay readable; returns its id. */
async function insert(sql: Sql, { head, request = '{}', response = '{}', reason = 'why' }: Letter) {
  const given = Buffer.from(head ?? JSON.stringify(logEntryHead()));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(given.length, 0);
  lengths.writeUInt32LE(Buffer.from(request as string).length, 4);
  const entry = Buffer.concat([
    lengths,
    given,
    Buffer.from(request as string),
    Buffer.from(response as string),
  ]);
  const owner = head === undefined ? TEST_ORGANIZATION : null;
  const requestId = head === undefined ? JSON.parse(given.toString()).id : null;
  const [row] = await sql<{ id: string }[]>`
    insert into assay.dead_letters (origin, organization_id, request_id, reason, entry)
    values ('outbox/1/2', ${owner}, ${requestId}, ${reason}, ${entry}) returning dead_letter_id as id`;
  return { id: row!.id, requestId: requestId as string, bytes: entry.length };
}

t.test('dead letters are listed, newest first, and how many there are beyond those shown', async (t) => {
  const { sql, command } = await setUp(t);
  t.equal((await command('list')).stdout, 'There are no dead letters\n');
  const owned = await insert(sql, { reason: 'Postgres refused the record: too long' });
  await insert(sql, { head: 'no head', reason: `a\u001b[31m\nb${'x'.repeat(500)}` });
  const all = await command('list');
  t.equal(all.code, 0, all.stderr);
  const [header = '', newest = '', oldest = ''] = all.stdout.split('\n');
  t.match(header, /^ID +TIME +ORGANIZATION +REQUEST ID +BYTES +REASON$/);
  t.match(newest, /^2 +\S+Z +\d+ +a \[31m bx{100,}…$/, 'on one line, cut, and harmless to a terminal');
  t.match(
    oldest,
    new RegExp(`^1 +\\S+Z +acme +${owned.requestId} +${owned.bytes} +Postgres refused the record: too long$`),
  );
  const some = await command('list', '--limit', '1');
  t.match(some.stdout, /\n\nThese are the newest 1 of 2 dead letters; --limit shows more\n$/);
  const own = await command('list', '--organization', 'acme');
  t.match(own.stdout, /\n1 /);
  t.notMatch(own.stdout, /\n2 /);
});

t.test('a dead letter is shown with its reason and all its parts', async (t) => {
  const { sql, command } = await setUp(t);
  const { id, requestId, bytes } = await insert(sql, {
    request: '{"messages":\t["naïve"]}',
    response: Buffer.from([0xff, 0x00]),
    reason: 'a sentence',
  });
  const shown = await command('show', id);
  t.equal(shown.code, 0, shown.stderr);
  t.match(
    shown.stdout,
    `organization  acme\nrequest id    ${requestId}\norigin        outbox/1/2\nreason        a sentence\n`,
  );
  t.match(shown.stdout, new RegExp(`\nhead \\(${bytes - 8 - 24 - 2} bytes\\)\n\\{\n {2}"v": 1,\n`));
  t.match(shown.stdout, '\nrequest body (24 bytes)\n{"messages":\t["naïve"]}\n');
  t.match(shown.stdout, '\nresponse body (2 bytes, in base64)\n/wA=\n');
  const obeyed = await insert(sql, { head: 'no head', request: '\u001b[2J' });
  t.match((await command('show', obeyed.id)).stdout, '\nrequest body (4 bytes, in base64)\nG1sySg==\n');
  await sql`insert into assay.dead_letters (origin, reason, entry) values ('o', 'damaged', 'what was there')`;
  t.match((await command('show', '3')).stdout, '\nbytes that are no entry (14 bytes)\nwhat was there\n');
});

t.test('a dead letter is stored by a retry, and one that is refused again is kept', async (t) => {
  const { sql, command } = await setUp(t);
  const good = await insert(sql, {});
  const bad = await insert(sql, { head: 'no head' });
  t.match(await command('retry', good.id), { code: 0, stdout: 'Stored dead letter 1\n' });
  t.match(await command('retry', good.id), { code: 1, stderr: 'There is no dead letter 1\n' });
  t.match(await command('retry', bad.id), {
    code: 1,
    stdout: '',
    stderr: /^Dead letter 2 is kept: Refused again: .*is not valid JSON\n$/,
  });
  await insert(sql, {});
  t.match(await command('retry', '--all'), {
    code: 1,
    stderr: 'Stored 1 dead letter; 1 refused again, and kept with the new reason\n',
  });
  const rows = await sql`select reason from assay.dead_letters`;
  t.match([...rows], [{ reason: /^Refused again/ }]);
  t.equal((await sql`select 1 from assay.requests`).length, 2);
});

t.test('drop removes one dead letter, and all of them only with --all', async (t) => {
  const { sql, command } = await setUp(t);
  for (let index = 0; index < 3; index += 1) await insert(sql, {});
  t.match(await command('drop', '2'), { code: 0, stdout: 'Dropped 1 dead letter\n' });
  t.match(await command('drop', '2'), { code: 1, stderr: 'There is no dead letter 2\n' });
  t.match(await command('drop'), { code: 1 });
  t.equal((await sql`select 1 from assay.dead_letters`).length, 2);
  t.match(await command('drop', '--all'), { code: 0, stdout: 'Dropped 2 dead letters\n' });
  t.match(await command('retry', '--all'), { code: 0, stdout: 'Stored 0 dead letters\n' });
});

t.test('an invalid dead-letters command is refused with one sentence', async (t) => {
  const { command } = await setUp(t);
  const cases: [string[], RegExp][] = [
    [['drop'], /^Give the id of one dead letter, or --all\n$/],
    [['drop', '1', '--all'], /^Give the id of one dead letter, or --all\n$/],
    [['retry'], /^Give the id of one dead letter, or --all\n$/],
    [['retry', '1'], /^There is no dead letter 1\n$/],
    [['show', '1'], /^There is no dead letter 1\n$/],
    [['show', 'x'], /^"x" is not the id of a dead letter: `dead-letters list` shows them\n$/],
    [['drop', '9223372036854775808'], /^"9223372036854775808" is not the id of a dead letter: .*\n$/],
    [['show'], /^error: missing required argument 'id'\n$/],
    [['list', '--limit', '0'], /^error: .*"0" is not a whole number from 1 to 1000\.\n$/],
    [['list', '--organization', 'nobody'], /^There is no organization called "nobody"\n$/],
  ];
  for (const [parameters, sentence] of cases) {
    const { code, stderr } = await command(...parameters);
    t.equal(code, 1, parameters.join(' '));
    t.match(stderr, sentence);
  }
});
