import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { API_ENDPOINTS } from '../../../gateway/endpoints/endpoint.ts';
import { PROVIDERS } from '../../../gateway/providers/registry.ts';
import { SERVICE_HEADERS } from '../../../gateway/request/service-headers.ts';
import { rowsOf } from '../../support/markdown-tables.ts';

const document = readFileSync(join(import.meta.dirname, '../../../docs/api/endpoints.md'), 'utf8');
const unquoted = (text = '') => text.replaceAll('`', '');

t.test('docs/api/endpoints.md has every endpoint that takes calls, and no other', async (t) => {
  const documented = rowsOf(document, 'endpoint')
    .map(([endpoint, , called]) => [unquoted(endpoint), unquoted(called)])
    .filter(([endpoint]) => endpoint!.startsWith('POST'));
  const served = API_ENDPOINTS.map(({ path, providerEndpoint }) => [`POST ${path}`, providerEndpoint]);
  t.same(documented.sort(), served.sort());
});

t.test(
  "endpoints of OpenAI's dialect are also served without /v1, those of Anthropic's are not",
  async (t) => {
    for (const { path, addresses } of API_ENDPOINTS) {
      const bare = path.startsWith('/v1/messages') ? [] : [path.slice('/v1'.length)];
      t.same(addresses, [path, ...bare]);
    }
  },
);

t.test('docs/api/endpoints.md has the endpoints of every provider', async (t) => {
  const documented = rowsOf(document, 'provider').map(([name, endpoints]) => [
    unquoted(name),
    unquoted(endpoints).split(', ').sort(),
  ]);
  const known = Object.entries(PROVIDERS).map(([name, { paths }]) => [name, Object.keys(paths).sort()]);
  t.same(documented, known);
});

t.test('docs/api/endpoints.md has every Service- header that a call may send, and no other', async (t) => {
  const documented = rowsOf(document, 'header').flatMap(([names = '']) => unquoted(names).split(', '));
  t.same(documented.sort(), [...SERVICE_HEADERS, 'Service-Property-<Name>'].sort());
});
