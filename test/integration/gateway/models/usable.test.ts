/** The list has the models of providers that some key here opens. */
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { sealProviderKey } from '#platform/provider-keys/mod.ts';
import { createSecretBox } from '#platform/secrets/mod.ts';
import { operatorProviders } from '../../../../gateway/models/mod.ts';
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts';
import { leastOf } from '../../../support/least-of.ts';
import { configOf } from '../../../support/world.ts';

const secretKey = randomBytes(32);

async function start(t: Test, environment: Record<string, string>): Promise<TestGateway> {
  const gateway = await startTestGateway(t, { SECRET_KEY: secretKey.toString('base64'), ...environment });
  return gateway;
}

/** Whose models are listed, and the list's tag. */
async function listed(gateway: TestGateway): Promise<{ makers: string[]; etag: string | null }> {
  const answer = await fetch(`${gateway.url}/v1/models`);
  const { data } = (await answer.json()) as { data: { owned_by: string }[] };
  const makers = [...new Set(data.map((model) => model.owned_by))].sort();
  return { makers, etag: answer.headers.get('etag') };
}

async function storeKey({ sql }: TestGateway, provider: string): Promise<void> {
  const [row] = await sql<{ id: string }[]>`select organization_id as id from assay.organizations`;
  const organizationId = row!.id;
  const sealed = sealProviderKey(createSecretBox([secretKey]), { organizationId, provider }, 'sk-stored');
  await sql`insert into assay.provider_keys values (${organizationId}, ${provider}, ${sealed}, now(), now())`;
}

/** Milliseconds until the list has the makers expected. */
async function msUntil(gateway: TestGateway, makers: string[]): Promise<number> {
  const from = performance.now();
  for (;;) {
    const now = (await listed(gateway)).makers;
    const waited = performance.now() - from;
    if (now.join() === makers.join()) return waited;
    if (waited > 20_000)
      throw new Error(`After ${waited} ms the list has models of ${now}, not of ${makers}`);
  }
}

t.test('only the models of providers with an operator key are listed', async (t) => {
  const gateway = await start(t, { GEMINI_API_KEY: 'sk-google' });
  t.same((await listed(gateway)).makers, ['google', 'openai']);
  const found = await fetch(`${gateway.url}/v1/models/claude-sonnet-4-5`);
  t.equal(found.status, 404, 'nor is another model found by its id');
});

t.test(
  'all models are listed where no provider is configured, since callers send their own keys',
  async (t) => {
    const gateway = await start(t, { OPENAI_API_KEY: '' });
    const { makers } = await listed(gateway);
    for (const maker of ['anthropic', 'google', 'mistral', 'openai', 'xai'])
      t.ok(makers.includes(maker), maker);
  },
);

t.test(
  "a key that an organization stores adds its provider's models within a second, under a new tag",
  async (t) => {
    const gateway = await start(t, {});
    const before = await listed(gateway);
    t.same(before.makers, ['openai']);
    const fastest = await leastOf(
      3,
      async () => {
        await storeKey(gateway, 'anthropic');
        const waited = await msUntil(gateway, ['anthropic', 'openai']);
        t.not((await listed(gateway)).etag, before.etag);
        await gateway.sql`delete from assay.provider_keys`;
        await msUntil(gateway, ['openai']);
        t.equal((await listed(gateway)).etag, before.etag, 'the former tag with the former list');
        return waited;
      },
      1_000,
    );
    t.ok(fastest < 1_000, `${fastest} ms`);
  },
);

t.test('a provider counts as configured with an address and, where it needs one, a key', async (t) => {
  const configured = (environment: Record<string, string>) => {
    return [...operatorProviders(configOf(environment).providers)];
  };
  t.same(configured({}), []);
  t.same(configured({ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }), [], 'an address alone opens nothing');
  t.same(configured({ AZURE_OPENAI_API_KEY: 'k' }), [], 'Azure has no address of its own');
  t.same(configured({ AZURE_OPENAI_API_KEY: 'k', AZURE_OPENAI_ENDPOINT: 'https://x.openai.azure.com' }), [
    'azure',
  ]);
  t.same(
    configured({ CUSTOM_BASE_URL: 'http://127.0.0.1:1/v1' }),
    ['custom'],
    'a server of one’s own needs no key',
  );
});
