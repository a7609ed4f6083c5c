import t from 'tap';
import type { DeadLetterJson, DeadLetterPage, RetriedJson } from '#core/contracts/dead-letter.ts';
import { encodeEntry } from '#core/contracts/dead-letter-codec.ts';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { startTestApi } from '../../../support/api.ts';
import { logEntry } from '../../../support/log-entries.ts';

const api = await startTestApi(t);
const { sql } = api.database;
const own = api.own.organizationId;
const PATH = '/v1/dead-letter';
const list = async (query = '', key = api.own.key) =>
  (await api.call(`${PATH}${query}`, { key })).body.data as DeadLetterPage;
const get = async (id: string) => (await api.call(`${PATH}/${id}`)).body.data as DeadLetterJson;
const retry = (id: string, key = api.own.key) => api.call(`${PATH}/${id}/retry`, { method: 'POST', key });
const drop = (id: string, key = api.own.key) => api.call(`${PATH}/${id}`, { method: 'DELETE', key });

type Given = { organizationId?: string | null; reason?: string; requestId?: string | null };

/** Keeps a letter of these bytes; returns its id. */
async function keep(entry: Buffer, { organizationId = own, reason = 'why', requestId = null }: Given = {}) {
  const [row] = await sql<{ id: string }[]>`
    insert into assay.dead_letters (origin, organization_id, request_id, reason, entry)
    values ('outbox/1/2', ${organizationId}, ${requestId}, ${reason}, ${entry})
    returning dead_letter_id::text as id`;
  return row!.id;
}

const entryOf = (organizationId: string, parts: { request?: unknown } = {}) =>
  logEntry({ organizationId }, parts);
const requestIds = async () =>
  (await sql`select request_id from assay.requests order by 1`).map((row) => row.request_id as string);
const audited = async (organizationId = own) =>
  (
    await sql`select actor_kind, action, target_kind, target_id from assay.audit_log
               where organization_id = ${organizationId} and target_kind = 'dead_letter' order by id`
  ).map((row) => ({ ...row }));

t.beforeEach(async () => {
  await sql`delete from assay.dead_letters`;
  await sql`delete from assay.requests`;
  await sql`delete from assay.request_bodies`;
});

t.test('letters are listed newest first, a page at a time, with an excerpt of the request', async (t) => {
  const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'ü'.repeat(400) }] };
  const ids = [];
  for (let index = 0; index < 3; index += 1) {
    ids.push(await keep(encodeEntry(entryOf(own, { request: body })), { requestId: `req-${index}` }));
  }
  const first = await list('?limit=2');
  t.same(
    first.letters.map(({ id, request_id, reason }) => [id, request_id, reason]),
    [
      [ids[2], 'req-2', 'why'],
      [ids[1], 'req-1', 'why'],
    ],
  );
  const { excerpt } = first.letters[0]!;
  t.equal(excerpt.bytes, Buffer.byteLength(JSON.stringify(body)));
  t.ok(excerpt.is_cut);
  t.match(excerpt.text, /^\{"model":"gpt-4o-mini","messages":\[\{"role":"user","content":"ü+$/);
  const second = await list(`?limit=2&after=${first.next}`);
  t.same(
    second.letters.map(({ id }) => id),
    [ids[0]],
  );
  t.equal(second.next, null);
  t.equal((await api.call(`${PATH}?after=x`)).status, 400);
});

t.test('letters are listed by their reason, whatever is in it', async (t) => {
  await keep(encodeEntry(entryOf(own)), { reason: 'another' });
  for (const reason of ["it's <b>odd</b>", 'too long, by 5', '["a"]', '{"a": 1}', '5+5 = 10 & 100 %']) {
    const wanted = await keep(encodeEntry(entryOf(own)), { reason });
    const { letters } = await list(`?reason=${encodeURIComponent(reason)}`);
    t.same(
      letters.map(({ id }) => id),
      [wanted],
      reason,
    );
  }
});

t.test("another organization's letters are nobody else's to see, retry or drop", async (t) => {
  const id = await keep(encodeEntry(entryOf(own)));
  const unknown = await keep(Buffer.from('a damaged stretch'), { organizationId: null });
  for (const letter of [id, unknown]) {
    const key = api.other.key;
    t.same((await list('', key)).letters, []);
    const refused = [
      await api.call(`${PATH}/${letter}`, { key }),
      await retry(letter, key),
      await drop(letter, key),
    ];
    for (const { status, body } of refused) {
      t.equal(status, 404);
      t.equal(body.error, `There is no dead letter with the id "${letter}"`);
    }
  }
  t.same(
    (await list()).letters.map((letter) => letter.id),
    [id],
    'one of no known organization is of neither of two',
  );
  t.equal((await sql`select 1 from assay.dead_letters`).length, 2);
  t.same(await requestIds(), []);
});

t.test(
  'a letter is shown with the beginnings of its parts, and bytes that are no text in base64',
  async (t) => {
    const large: LogEntry = {
      ...entryOf(own),
      requestBody: Buffer.from('é'.repeat(50_000)),
      responseBody: Buffer.from([0xff, 0, 1]),
    };
    const { entry, rest, origin } = await get(await keep(encodeEntry(large)));
    t.equal(origin, 'outbox/1/2');
    t.equal(rest, null);
    t.match(JSON.parse(entry!.head.text), { organizationId: own });
    t.same(entry!.request_body, {
      bytes: 100_000,
      encoding: 'utf-8',
      text: 'é'.repeat(32_768),
      is_cut: true,
    });
    t.same(entry!.response_body, { bytes: 3, encoding: 'base64', text: '/wAB', is_cut: false });
    const damaged = await get(await keep(Buffer.from('a damaged stretch')));
    t.equal(damaged.entry, null);
    t.equal(damaged.rest?.text, 'a damaged stretch');
  },
);

t.test(
  'a retry stores the request, deletes the letter and is audited; a second one finds none',
  async (t) => {
    const entry = entryOf(own);
    const before = await audited();
    const id = await keep(encodeEntry(entry), { requestId: entry.id });
    const answers = await Promise.all([retry(id), retry(id)]);
    t.same(answers.map(({ status }) => status).sort(), [200, 404]);
    t.same(answers.find(({ status }) => status === 200)!.body.data, { outcome: 'stored', reason: null });
    t.equal((await retry(id)).status, 404);
    t.same(await requestIds(), [entry.id]);
    t.same((await list()).letters, []);
    t.same((await audited()).slice(before.length), [
      { actor_kind: 'api_key', action: 'retry', target_kind: 'dead_letter', target_id: id },
    ]);
  },
);

t.test('a letter that is refused again stays, with the new reason', async (t) => {
  const id = await keep(encodeEntry({ ...entryOf(own), head: Buffer.from('no head') }));
  const { status, body } = await retry(id);
  t.equal(status, 200);
  const { outcome, reason } = body.data as RetriedJson;
  t.equal(outcome, 'refused');
  t.match(reason, /^Refused again: .*is not valid JSON/);
  t.equal((await get(id)).reason, reason);
});

t.test('a drop deletes one letter and is audited; a second one finds none', async (t) => {
  const before = await audited();
  const id = await keep(encodeEntry(entryOf(own)));
  const other = await keep(encodeEntry(entryOf(own)));
  t.equal((await drop(id)).status, 200);
  t.equal((await drop(id)).status, 404);
  t.same(
    (await list()).letters.map((letter) => letter.id),
    [other],
  );
  t.same((await audited()).slice(before.length), [
    { actor_kind: 'api_key', action: 'delete', target_kind: 'dead_letter', target_id: id },
  ]);
});

t.test('a key that may only read neither retries nor drops', async (t) => {
  const id = await keep(encodeEntry(entryOf(own)));
  const key = await api.own.keyWith(['read']);
  t.equal((await retry(id, key)).status, 403);
  t.equal((await drop(id, key)).status, 403);
  t.equal((await list('', key)).letters.length, 1);
});

t.test('where there is one organization, letters of no known one are its own', async (t) => {
  const alone = await startTestApi(t);
  const { sql } = alone.database;
  await sql`update assay.api_keys set revoked_at = now() where organization_id = ${alone.other.organizationId}`;
  await sql`delete from assay.api_keys where organization_id = ${alone.other.organizationId}`;
  await sql`delete from assay.organizations where organization_id = ${alone.other.organizationId}`;
  await sql`insert into assay.dead_letters (origin, reason, entry) values ('o', 'damaged', 'bytes')`;
  const { letters } = (await alone.call(PATH)).body.data as DeadLetterPage;
  t.match(letters, [{ reason: 'damaged', excerpt: { text: 'bytes' } }]);
  const { body } = await alone.call(`${PATH}/${letters[0]!.id}/retry`, { method: 'POST' });
  t.match(body.data, { outcome: 'refused', reason: /holds no entry/ });
  t.equal((await alone.call(`${PATH}/${letters[0]!.id}`, { method: 'DELETE' })).status, 200);
  const [entry] = await sql`
    select organization_id from assay.audit_log where target_kind = 'dead_letter' and action = 'delete'`;
  t.equal(entry?.organization_id, alone.own.organizationId);
});
