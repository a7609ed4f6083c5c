/** The provider key of a call: the caller's own, its organization's, or the operator's. */
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { sealProviderKey } from '#platform/provider-keys/mod.ts';
import {
  createSecretBox,
  readInternalSecret,
  type SecretBox,
  signInternalCall,
} from '#platform/secrets/mod.ts';
import { waitFor } from '../../support/assay.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';

const secretKey = randomBytes(32);
const box = createSecretBox([secretKey]);
const ask = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };

async function setUp(t: Test, environment: Record<string, string> = {}) {
  const gateway = await startTestGateway(t, { SECRET_KEY: secretKey.toString('base64'), ...environment });
  const [row] = await gateway.sql<{ organizationId: string }[]>`
    select organization_id as "organizationId" from assay.organizations`;
  const { organizationId } = row!;
  return { gateway, organizationId };
}

async function store(
  { sql }: TestGateway,
  organizationId: string,
  provider: string,
  key: string,
  by: SecretBox = box,
): Promise<void> {
  const sealed = sealProviderKey(by, { organizationId, provider }, key);
  await sql`
    insert into assay.provider_keys values (${organizationId}, ${provider}, ${sealed}, now(), now())
    on conflict (organization_id, provider) do update set sealed = excluded.sealed`;
}

/** Returns the credentials that a call sent to the provider. */
async function keySentBy(gateway: TestGateway, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await gateway.chat(ask, headers);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  return gateway.provider.requests.at(-1)?.headers.authorization;
}

const used = (gateway: TestGateway, key: string, headers?: Record<string, string>) =>
  waitFor(key, async () => (await keySentBy(gateway, headers)) === `Bearer ${key}`);

t.test(
  "the caller's own provider key is used first, then its organization's, then the operator's",
  async (t) => {
    const { gateway, organizationId } = await setUp(t);
    const own = { 'service-auth': `Bearer ${gateway.key}`, authorization: 'Bearer sk-own' };
    t.equal(await keySentBy(gateway), 'Bearer sk-operator');
    t.equal(await keySentBy(gateway, own), 'Bearer sk-own');
    await store(gateway, organizationId, 'openai', 'sk-acme');
    await used(gateway, 'sk-acme');
    t.equal(await keySentBy(gateway, own), 'Bearer sk-own');
    await store(gateway, organizationId, 'openai', 'sk-acme-2');
    await used(gateway, 'sk-acme-2');
    await gateway.sql`delete from assay.provider_keys`;
    await used(gateway, 'sk-operator');
  },
);

t.test("a call of an evaluator uses its organization's provider key", async (t) => {
  const { gateway, organizationId } = await setUp(t);
  const secret = await readInternalSecret(gateway.sql);
  const internal = () => ({
    'service-internal': signInternalCall(secret, { organizationId, evaluationId: '1' }, Date.now()),
  });
  t.equal(await keySentBy(gateway, internal()), 'Bearer sk-operator');
  await store(gateway, organizationId, 'openai', 'sk-acme');
  await used(gateway, 'sk-acme', internal());
});

t.test(
  'a stored provider key that cannot be decrypted refuses the call before any provider request',
  async (t) => {
    const { gateway, organizationId } = await setUp(t);
    await store(gateway, organizationId, 'openai', 'sk-lost', createSecretBox([randomBytes(32)]));
    const refused = await gateway.chat(ask);
    const { error } = (await refused.json()) as { error: { code: string; message: string } };
    t.equal(refused.status, 400);
    t.match(error, { code: 'provider_not_configured', message: /cannot be decrypted, because SECRET_KEY/ });
    t.equal(gateway.provider.requests.length, 0);
    const own = { 'service-auth': `Bearer ${gateway.key}`, authorization: 'Bearer sk-own' };
    t.equal(await keySentBy(gateway, own), 'Bearer sk-own', 'the caller can still send one');
  },
);

t.test("an organization's provider key suffices where the operator has none", async (t) => {
  const { gateway, organizationId } = await setUp(t, { OPENAI_API_KEY: '' });
  const refused = await gateway.chat(ask);
  t.equal(refused.status, 400);
  await refused.text();
  await store(gateway, organizationId, 'openai', 'sk-acme');
  await waitFor('the key', async () => {
    const answer = await gateway.chat(ask);
    await answer.text();
    return answer.status === 200;
  });
  t.equal(gateway.provider.requests.at(-1)?.headers.authorization, 'Bearer sk-acme');
});
