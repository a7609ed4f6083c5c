/** The address of Azure for each API version, and whether it accepts the usage option. */
import t from 'tap';
import { readConfig } from '#platform/config/mod.ts';
import { createResolver } from '../../../gateway/providers/resolve.ts';

function routeOf(environment: Record<string, string>) {
  const read = readConfig({ AZURE_OPENAI_API_KEY: 'k', ...environment });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  return createResolver(read.config.providers)('azure/my gpt');
}

const ENDPOINT = 'https://eu.openai.azure.com';

t.test('without an API version, Azure is called at its endpoint that takes none', async (t) => {
  for (const endpoint of [ENDPOINT, `${ENDPOINT}/openai/v1/`, `${ENDPOINT}/openai/v1`]) {
    const { origin, paths, row } = routeOf({ AZURE_OPENAI_ENDPOINT: endpoint });
    t.equal(origin, ENDPOINT);
    t.match(paths, { chat: '/openai/v1/chat/completions', responses: '/openai/v1/responses' });
    t.equal(row.takesUsageOption, true);
  }
});

t.test(
  'with an API version, the path names the Azure deployment, whichever form the endpoint has',
  async (t) => {
    for (const endpoint of [ENDPOINT, `${ENDPOINT}/`, `${ENDPOINT}/openai`, `${ENDPOINT}/openai/v1`]) {
      const { paths } = routeOf({ AZURE_OPENAI_ENDPOINT: endpoint, AZURE_OPENAI_API_VERSION: '2024-10-21' });
      t.same(paths, {
        chat: '/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21',
        completions: '/openai/deployments/my%20gpt/completions?api-version=2024-10-21',
        embeddings: '/openai/deployments/my%20gpt/embeddings?api-version=2024-10-21',
      });
    }
  },
);

t.test(
  'Azure API versions before September 2024, which refuse the usage option, are not sent it',
  async (t) => {
    const asks = (version: string) =>
      routeOf({ AZURE_OPENAI_ENDPOINT: ENDPOINT, AZURE_OPENAI_API_VERSION: version }).row.takesUsageOption;
    t.same(['2024-06-01', '2024-08-01-preview', '2024-09-01-preview', '2025-01-01-preview'].map(asks), [
      false,
      false,
      true,
      true,
    ]);
  },
);
