/** Calls without a key: those signed by the installation's own evaluators are accepted, and no others. */
import t from 'tap';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { readInternalSecret, signInternalCall } from '#platform/secrets/mod.ts';
import { startTestGateway } from '../../support/gateway.ts';

const BODY = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] });
const MINUTE = 60_000;
const EVALUATION = '4711';

const gateway = await startTestGateway(t);
const { sql } = gateway;
const secret = await readInternalSecret(sql);
/** The organization of `gateway.key`, and another with a key of its own. */
const [acme] = await sql<{ id: string }[]>`select organization_id as id from assay.organizations`;
const organizationId = acme!.id;
const other = await createOrganization(sql, { name: 'other' });
const otherKey = (await createKey(sql, { organizationId: other.organizationId, scopes: ['gateway'] })).key;

const sign = (more: { secret?: string; evaluationId?: string; at?: number } = {}) =>
  signInternalCall(
    more.secret ?? secret,
    { organizationId, evaluationId: more.evaluationId ?? EVALUATION },
    more.at ?? Date.now(),
  );

/** Calls with these headers and no others of ours. */
const call = (headers: Record<string, string>) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: BODY,
  });

/** Columns of a record about the origin of its call. */
async function originOf(answer: Response) {
  const { request_id } = await gateway.record(answer);
  const [row] = await sql`
    select organization_id, source, api_key_id, request_properties as properties
      from assay.requests where request_id = ${request_id}`;
  return row!;
}

t.test('a call signed by an evaluator needs no key, and is recorded as an evaluator call', async (t) => {
  const answer = await call({ 'service-internal': sign() });
  t.equal(answer.status, 200);
  t.same(await originOf(answer), {
    organization_id: organizationId,
    source: 'evaluator',
    api_key_id: null,
    properties: { 'Assay-Evaluation-Id': EVALUATION },
  });
});

t.test('two calls of one evaluation may have the same Service-Internal header', async (t) => {
  const header = sign();
  for (const answer of [
    await call({ 'service-internal': header }),
    await call({ 'service-internal': header }),
  ]) {
    t.equal((await originOf(answer)).source, 'evaluator');
  }
});

t.test(
  'a signed call belongs to the signed organization, even beside an API key of another one',
  async (t) => {
    const answer = await call({ 'service-internal': sign(), authorization: `Bearer ${otherKey}` });
    t.match(await originOf(answer), {
      organization_id: organizationId,
      source: 'evaluator',
      api_key_id: null,
    });
  },
);

t.test('the Service-Internal header is not sent to the provider', async (t) => {
  await call({ 'Service-Internal': sign() });
  const { headers } = gateway.provider.requests.at(-1)!;
  t.notOk('service-internal' in headers);
  t.equal(headers.authorization, 'Bearer sk-operator');
});

const [payload, signature] = sign().split('.') as [string, string];
const flipped = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`;
const ofOther = signInternalCall(
  'guessed',
  { organizationId: other.organizationId, evaluationId: EVALUATION },
  Date.now(),
);

const FORGERIES: [string, () => string][] = [
  ['signed with another secret', () => sign({ secret: 'guessed' })],
  ['signed with no secret', () => sign({ secret: '' })],
  ['with a changed signature', () => `${payload}.${flipped}`],
  ['of another organization under our signature', () => `${ofOther.split('.')[0]}.${signature}`],
  ['without a signature', () => payload],
  ['with an empty signature', () => `${payload}.`],
  ['signed more than five minutes ago', () => sign({ at: Date.now() - 5 * MINUTE - 1 })],
  ['signed for more than five minutes from now', () => sign({ at: Date.now() + 6 * MINUTE })],
  ['of another shape', () => 'true'],
  ['of bytes that are no text', () => '\u00ff\u00fe.\u00e9'],
  ['of ten thousand characters', () => 'x.'.repeat(5_000)],
];

for (const [what, forge] of FORGERIES) {
  t.test(`a Service-Internal header ${what} is ignored, and a call with a key is a client's`, async (t) => {
    const answer = await call({ 'service-internal': forge(), authorization: `Bearer ${otherKey}` });
    t.equal(answer.status, 200);
    const origin = await originOf(answer);
    t.match(origin, { organization_id: other.organizationId, source: 'gateway', properties: null });
    t.ok(origin.api_key_id, 'and its key is named');
  });

  t.test(`a Service-Internal header ${what} is ignored, and a call without a key is refused`, async (t) => {
    const before = gateway.provider.requests.length;
    const answer = await call({ 'service-internal': forge() });
    t.equal(answer.status, 401);
    t.match(await answer.json(), { error: { code: 'invalid_api_key' } });
    t.equal(gateway.provider.requests.length, before, 'and the provider never called');
  });
}

t.test("a call with an evaluation id in a property is recorded as a client's", async (t) => {
  const answer = await gateway.chat(BODY, { 'service-property-assay-evaluation-id': EVALUATION });
  t.equal((await originOf(answer)).source, 'gateway');
});
