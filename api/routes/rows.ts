import { Elysia } from 'elysia';
import { Rows, RowsBody } from '#core/contracts/rows.ts';
import type { RowService } from '../rows/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, reply } from './declare.ts';
import { dataReply } from './reply.ts';

export type RowRoutesOptions = { keys: Keys; rows: RowService };

const example: RowsBody = {
  filter: { response: { status: { gte: 400 } } },
  sort: { latency: 'desc' },
  limit: 50,
  columns: ['request_created_at', 'model', 'delay_ms', 'preview_in', 'property:Plan', 'score:helpfulness'],
};

/** `/v1/request/rows`: logged requests as a table shows them. */
export function rowRoutes({ keys, rows }: RowRoutesOptions) {
  const routes = authorized(keys, 'read', 'Requests').post(
    '/v1/request/rows',
    async ({ key, body }) => dataReply(await rows.list(key.organizationId, body)),
    {
      body: jsonBody(RowsBody, example),
      response: reply(Rows),
      detail: { summary: 'Lists requests as rows of narrow columns, without bodies, with cursors both ways' },
    },
  );
  return new Elysia({ name: 'api/rows' }).use(routes);
}
