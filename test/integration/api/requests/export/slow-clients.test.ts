import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createKey, hashApiKey } from '#platform/keys/mod.ts';
import { startTestApi, type TestApi } from '../../../../support/api.ts';
import { insertRequests } from '../../../../support/seed-requests.ts';
import { organizationWith } from './organization.ts';

/** More than the buffers of a connection hold, and more than a batch of bodies. */
const RECORDS = 40;
const BODY = JSON.stringify({ text: 'x'.repeat(1024 * 1024) });

let api: TestApi;
let key: string;
t.before(async () => {
  api = await startTestApi(t);
  const organization = await organizationWith(api.database.sql);
  key = organization.key;
  const rows = Array.from({ length: RECORDS }, (_, index) => ({
    created_at: new Date(Date.UTC(2026, 4, 4) + index),
    request_text: BODY,
  }));
  await insertRequests(api.database.sql, organization.organizationId, rows);
});

async function begin(ofKey = key): Promise<{ response: Response; leave(): void }> {
  const abort = new AbortController();
  const response = await fetch(`${api.url}/v1/request/export`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ofKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ filter: 'all', format: 'ndjson', bodies: true }),
    signal: abort.signal,
  });
  return { response, leave: () => abort.abort() };
}

/** Waits until `isSo`, for at most five seconds. */
async function until(isSo: () => Promise<boolean>): Promise<boolean> {
  for (let round = 0; round < 250; round += 1) {
    if (await isSo()) return true;
    await sleep(20);
  }
  return false;
}

/** Begins an export as soon as the organization may have one more. */
async function beginSoon(): Promise<{ response: Response; leave(): void }> {
  let begun: { response: Response; leave(): void } | undefined;
  await until(async () => {
    begun = await begin();
    if (begun.response.status === 200) return true;
    await begun.response.text();
    return false;
  });
  return begun!;
}

t.test('an organization has two exports at a time, and one more as soon as one has ended', async (t) => {
  const one = await begin();
  const two = await begin();
  t.strictSame([one.response.status, two.response.status], [200, 200]);
  const refused = await begin();
  t.equal(refused.response.status, 429);
  t.match(await refused.response.json(), { data: null, error: /^The organization has 2 exports under way/ });
  const other = await begin(api.own.key);
  t.equal(other.response.status, 200, 'another organization is not held up');
  t.equal(await other.response.text(), '');
  one.leave();
  const three = await beginSoon();
  t.equal(three.response.status, 200, 'after a client has left');
  const text = await two.response.text();
  t.equal(text.split('\n').length - 1, RECORDS);
  const four = await beginSoon();
  t.equal(four.response.status, 200, 'after an export has been read to its end');
  three.leave();
  four.leave();
});

t.test('an export ends with its key, and when its key may not export any more', async (t) => {
  const { sql } = api.database;
  const [row] = await sql<[{ organization_id: string }]>`
    select organization_id from assay.api_keys where hash = ${hashApiKey(key)}`;
  const organizationId = row.organization_id;
  const ends = {
    revoked: sql`revoked_at = now()`,
    expired: sql`expires_at = now()`,
    'without the scope': sql`scopes = '{gateway}'`,
    'for other paths': sql`paths = '{/v1/request/query}'`,
  };
  for (const [name, change] of Object.entries(ends)) {
    const made = await createKey(sql, { organizationId, scopes: ['read'] });
    const { response } = await begin(made.key);
    t.equal(response.status, 200);
    await sql`update assay.api_keys set ${change} where key_id = ${made.record.keyId}`;
    const count = { key: made.key, body: { filter: 'all' } };
    await until(async () => (await api.call('/v1/request/count/query', count)).status !== 200);
    await t.rejects(response.text(), { message: /terminated/ }, name);
  }
  const [one, two] = [await beginSoon(), await beginSoon()];
  t.strictSame([one.response.status, two.response.status], [200, 200], 'their places are free');
  one.leave();
  two.leave();
});

t.test('an export whose client does not read holds no connection of Postgres', async (t) => {
  const one = await beginSoon();
  const isIdle = await until(async () => {
    const [row] = await api.database.sql<[{ busy: number }]>`
      select count(*)::int4 as busy from pg_stat_activity
      where datname = current_database() and application_name = 'assay-api' and state <> 'idle'`;
    return row.busy === 0;
  });
  t.ok(isIdle);
  const text = await one.response.text();
  t.equal(text.split('\n').length - 1, RECORDS, 'and has everything once it reads');
});

t.test('an export that fails midway cuts the connection, and takes up no place any more', async (t) => {
  const { sql } = api.database;
  const { response } = await beginSoon();
  t.equal(response.status, 200);
  await sql`revoke select on assay.request_bodies from assay_api`;
  try {
    await t.rejects(response.text(), 'instead of a file that is short');
  } finally {
    await sql`grant select on assay.request_bodies to assay_api`;
  }
  const one = await beginSoon();
  const two = await beginSoon();
  t.strictSame([one.response.status, two.response.status], [200, 200]);
  one.leave();
  two.leave();
});

t.test('an export that fails at once is an answer with the status of its error', async (t) => {
  const { sql } = api.database;
  await sql`revoke select on assay.requests from assay_api`;
  try {
    for (let round = 0; round < 3; round += 1) {
      const { response } = await begin(api.other.key);
      t.equal(response.status, 500);
      await response.text();
    }
  } finally {
    await sql`grant select on assay.requests to assay_api`;
  }
});
