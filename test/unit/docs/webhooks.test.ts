/** docs/guides/webhooks.md, against the code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  CreateWebhookBody,
  DELIVERY_STATES,
  MAX_PENDING_DELIVERIES,
  MAX_WEBHOOKS,
  PAUSE_REASONS,
  WEBHOOK_EVENTS,
} from '#core/contracts/webhook.ts';
import { webhookRoutes } from '../../../api/routes/webhooks.ts';
import type { WebhookService } from '../../../api/webhooks/mod.ts';
import { rowsOf } from '../../support/markdown-tables.ts';

const document = readFileSync(join(import.meta.dirname, '../../../docs/guides/webhooks.md'), 'utf8');
const firstColumn = (head: string) =>
  rowsOf(document, head).flatMap(([cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));

t.test('the tables of docs/guides/webhooks.md list exactly the values of the code', (t) => {
  t.same(firstColumn('event'), [...WEBHOOK_EVENTS]);
  t.same(firstColumn('reason'), [...PAUSE_REASONS]);
  t.same(firstColumn('state'), [...DELIVERY_STATES]);
  t.same(firstColumn('field').sort(), Object.keys(CreateWebhookBody.properties).sort());
  t.match(document, `at most ${MAX_WEBHOOKS}`);
  t.match(document, MAX_PENDING_DELIVERIES.toLocaleString('en'));
  t.end();
});

t.test('docs/guides/webhooks.md has every route that is served, with its scope, and no other', (t) => {
  const routes = webhookRoutes({
    keys: { find: async () => null, ofBrowser: async () => null },
    webhooks: {} as WebhookService,
  }).routes;
  const served = routes.map(({ method, path, hooks }) => {
    const [security] = (hooks as { detail?: { security?: { apiKey: string[] }[] } }).detail?.security ?? [];
    return `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')} ${security?.apiKey[0]}`;
  });
  const documented = rowsOf(document, 'route').map(
    ([route = '', scope]) => `${route.replaceAll('`', '')} ${scope}`,
  );
  t.same(documented.sort(), served.sort());
  t.end();
});
