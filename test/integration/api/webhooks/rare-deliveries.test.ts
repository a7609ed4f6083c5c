/** Deliveries in a rare state among many others. */
import t from 'tap';
import { inOrganization } from '#platform/postgres/mod.ts';
import { listDeliveries } from '../../../../api/webhooks/deliveries.ts';
import { startWorld } from '../../../support/evaluation-queue.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { rowsRead } from '../../../support/rows-read.ts';

const MANY = 20_000;
const FEW = 100;

t.test('deliveries that wait or failed are listed without reading all the others', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  const [webhook] = await world.sql<{ id: string }[]>`
    insert into assay.webhooks (organization_id, url, events, payload, format, sealed, created_at, updated_at)
    values (${organizationId}, 'https://example.com/', '{request.logged}', 'thin', 'standard', '', now(), now())
    returning webhook_id as id`;
  const webhookId = webhook!.id;
  await world.sql`
    insert into assay.webhook_deliveries
      (webhook_id, delivery_id, organization_id, event, event_at, state, due_at, finished_at)
    select ${webhookId}, 'msg_' || n, ${organizationId}, 'request.logged', now(),
           case n when 7 then 'failed' when 8 then 'sending' else 'delivered' end, now(), case when n <> 8 then now() end
      from generate_series(1, ${MANY}::int4) n`;
  await world.sql`vacuum (analyze) assay.webhook_deliveries`;
  const sql = connectAsApi(world.url);
  t.teardown(() => sql.end());
  for (const [state, found] of [
    ['failed', 1],
    ['sending', 1],
    ['pending', 0],
  ] as const) {
    const { all } = await rowsRead(sql, '^webhook_deliveries$', async (inside) => {
      await inside`set local plan_cache_mode = force_generic_plan`;
      const page = await inOrganization(inside, organizationId, (tx) =>
        listDeliveries(tx, { organizationId, webhookId }, { state }),
      );
      t.equal(page.deliveries.length, found);
    });
    t.ok(all < FEW, `${all} of ${MANY} read for ${state}`);
  }
});
