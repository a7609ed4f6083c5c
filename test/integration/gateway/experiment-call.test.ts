/** Calls that are signed for an experiment: the gateway takes them as its organization's own, and logs them as the experiment's. */
import t from 'tap';
import { createKey } from '#platform/keys/mod.ts';
import { readInternalSecret, signExperimentCall } from '#platform/secrets/mod.ts';
import { startTestGateway } from '../../support/gateway.ts';

const BODY = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };
const EXPERIMENT = '00000000-0000-4000-8000-00000000e001';

const gateway = await startTestGateway(t);
const { sql, organizationId } = gateway;
const secret = await readInternalSecret(sql);

const call = (headers: Record<string, string> = {}, by = secret) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'service-internal': signExperimentCall(by, { organizationId, experimentId: EXPERIMENT }, Date.now()),
      ...headers,
    },
    body: JSON.stringify(BODY),
  });

t.test(
  'a call signed for an experiment is recorded with the source experiment and the id of the experiment',
  async (t) => {
    const answer = await call({ 'service-experiment-id': 'another one' });
    t.equal(answer.status, 200);
    const { request_id } = await gateway.record(answer);
    const [row] = await sql`
      select organization_id, source, api_key_id, experiment_id from assay.requests where request_id = ${request_id}`;
    t.same(row, {
      organization_id: organizationId,
      source: 'experiment',
      api_key_id: null,
      experiment_id: EXPERIMENT,
    });
    t.notOk(
      'service-internal' in gateway.provider.requests.at(-1)!.headers,
      'the provider does not see the signature',
    );
  },
);

t.test('a call that is signed for an experiment with another secret needs a key', async (t) => {
  const answer = await call({}, 'another secret');
  t.equal(answer.status, 401);
  t.match(await answer.json(), { error: { code: 'invalid_api_key' } });
});

t.test("a caller's own call that names an experiment keeps the source gateway", async (t) => {
  const { key } = await createKey(sql, { organizationId, scopes: ['gateway'] });
  const answer = await gateway.chat(BODY, {
    authorization: `Bearer ${key}`,
    'service-experiment-id': EXPERIMENT,
  });
  const { request_id } = await gateway.record(answer);
  const [row] = await sql`
    select source, experiment_id from assay.requests where request_id = ${request_id}`;
  t.same(row, { source: 'gateway', experiment_id: EXPERIMENT });
});
