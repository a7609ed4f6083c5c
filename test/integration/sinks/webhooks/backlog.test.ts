/** Claims and deletions of deliveries where there are many, and Postgres has analyzed them. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { createOrganization } from '#platform/keys/mod.ts';
import { claim } from '../../../../sinks/webhooks/claim.ts';
import { dropOldDeliveries } from '../../../../sinks/webhooks/keeper.ts';
import { rowsRead } from '../../../support/rows-read.ts';
import { type Database, databaseFor } from '../../../support/world.ts';

const CAPACITY = { total: 40, ofOrganization: 40, ofWebhook: 5 };

let database: Database;
t.before(async () => {
  database = await databaseFor(t);
});
t.beforeEach(async () => {
  await database.sql`truncate assay.webhook_deliveries`;
});

async function makeWebhook(deletedAt: Date | null = null): Promise<string> {
  const { sql } = database;
  const { organizationId } = await createOrganization(sql, { name: randomUUID() });
  const webhookId = randomUUID();
  await sql`
    insert into assay.webhooks (webhook_id, organization_id, url, events, payload, format, sealed, created_at, updated_at, deleted_at)
    values (${webhookId}, ${organizationId}, 'https://example.com', '{request.logged}', 'thin', 'standard', '', now(), now(), ${deletedAt})`;
  return webhookId;
}

/** Inserts deliveries of some webhooks, as they would have come: each a few at a time. */
async function insertDeliveries(webhookIds: readonly string[], state: string, count: number): Promise<void> {
  await database.sql`
    insert into assay.webhook_deliveries (webhook_id, delivery_id, organization_id, event, event_at, state, due_at, finished_at)
    select webhook_id, md5(webhook_id::text || n), organization_id, 'request.logged', now(), ${state}, now(),
           case when ${state} = 'delivered' then now() end
      from assay.webhooks cross join generate_series(1, ${count}::int4) n
     where webhook_id = any(${[...webhookIds]}::uuid[]) order by md5(n || ' ' || webhook_id)`;
}

/** Returns the rows of deliveries that `work` reads from start to end of the table. */
async function rowsScanned(work: (sql: Database['sql']) => Promise<unknown>): Promise<number> {
  return (await rowsRead(database.sql, '^webhook_deliveries$', work)).scanned;
}

t.test('a claim from the backlogs of several webhooks looks its deliveries up', async (t) => {
  const webhookIds = await Promise.all(Array.from({ length: 8 }, () => makeWebhook()));
  await insertDeliveries(webhookIds, 'pending', 4_000);
  await database.sql`vacuum (analyze) assay.webhook_deliveries`;
  let claimed = 0;
  const scanned = await rowsScanned(async (sql) => {
    claimed = (await claim(sql, [], CAPACITY, 30_000)).jobs.length;
  });
  t.equal(claimed, 40);
  t.equal(scanned, 0);
});

t.test('deliveries of others are not read because a webhook was deleted', async (t) => {
  const deleted = await makeWebhook(new Date());
  await insertDeliveries([deleted], 'pending', 3);
  const kept = await makeWebhook();
  await insertDeliveries([kept], 'delivered', 5_000);
  await database.sql`vacuum (analyze) assay.webhook_deliveries, assay.webhooks`;
  const dropped: number[] = [];
  const scanned = await rowsScanned(async (sql) => {
    for (let round = 0; round < 2; round += 1) dropped.push(await dropOldDeliveries(sql));
  });
  t.same(dropped, [3, 0]);
  t.equal(scanned, 0);
});
