/** Calls that the API signs for a key: the gateway takes them as that key's own, and logs them as the playground's. */
import t, { type Test } from 'tap';
import { createKey, revokeKey } from '#platform/keys/mod.ts';
import { readInternalSecret, signKeyCall } from '#platform/secrets/mod.ts';
import { startTestGateway } from '../../support/gateway.ts';

const BODY = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };

const gateway = await startTestGateway(t);
const { sql, organizationId } = gateway;
const secret = await readInternalSecret(sql);

const makeKey = (more: Partial<Parameters<typeof createKey>[1]> = {}) =>
  createKey(sql, { organizationId, scopes: ['gateway'], ...more });

const callFor = (keyId: string, headers: Record<string, string> = {}, by = secret) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'service-internal': signKeyCall(by, keyId, Date.now()),
      ...headers,
    },
    body: JSON.stringify(BODY),
  });

async function refused(t: Test, answer: Response, status: number, code: string) {
  t.equal(answer.status, status);
  t.match(await answer.json(), { error: { code } });
}

t.test(
  'a call signed for a key is recorded with the key, its organization and the source playground',
  async (t) => {
    const { record } = await makeKey();
    const answer = await callFor(record.keyId, { 'service-user-id': 'ada' });
    t.equal(answer.status, 200);
    const { request_id } = await gateway.record(answer);
    const [row] = await sql`
    select organization_id, source, api_key_id, user_id from assay.requests where request_id = ${request_id}`;
    t.same(row, {
      organization_id: organizationId,
      source: 'playground',
      api_key_id: record.keyId,
      user_id: 'ada',
    });
    t.notOk(
      'service-internal' in gateway.provider.requests.at(-1)!.headers,
      'the provider does not see the signature',
    );
  },
);

t.test('a call signed for a key is confined as the key is', async (t) => {
  const models = await makeKey({ models: ['gpt-4.1*'] });
  await refused(t, await callFor(models.record.keyId), 403, 'model_not_allowed');
  const paths = await makeKey({ paths: ['/v1/embeddings'] });
  await refused(t, await callFor(paths.record.keyId), 403, 'path_not_allowed');
  const scopes = await makeKey({ scopes: ['read', 'write'] });
  await refused(t, await callFor(scopes.record.keyId), 403, 'missing_scope');
  const expired = await makeKey({ expiresAt: new Date(Date.now() - 1_000) });
  await refused(t, await callFor(expired.record.keyId), 401, 'key_expired');
});

t.test('a call signed for a key counts against the limit of the key', async (t) => {
  const { key, record } = await makeKey({ rateLimitPolicy: '2;w=60' });
  t.equal((await gateway.chat(BODY, { authorization: `Bearer ${key}` })).status, 200);
  t.equal((await callFor(record.keyId)).status, 200);
  await refused(t, await callFor(record.keyId), 429, 'rate_limit_exceeded');
  await refused(t, await gateway.chat(BODY, { authorization: `Bearer ${key}` }), 429, 'rate_limit_exceeded');
});

t.test(
  'a call signed for a key that is revoked or unknown is refused, known to the gateway or not',
  async (t) => {
    const { record } = await makeKey();
    t.equal((await callFor(record.keyId)).status, 200);
    await revokeKey(sql, record.keyId);
    for (let status = 200; status === 200; ) status = (await callFor(record.keyId)).status;
    await refused(t, await callFor(record.keyId), 401, 'invalid_api_key');
    await refused(t, await callFor('00000000-0000-4000-8000-000000000000'), 401, 'invalid_api_key');
  },
);

t.test('a call that another secret signed for a key is a call without a key', async (t) => {
  const { record } = await makeKey();
  await refused(t, await callFor(record.keyId, {}, 'guessed'), 401, 'invalid_api_key');
});
