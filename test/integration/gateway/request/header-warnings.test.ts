/** Request headers that look like the gateway's own get a warning, and the call goes on. */
import fc from 'fast-check';
import t from 'tap';
import { readCallHeaders } from '../../../../gateway/request/headers.ts';
import { SERVICE_HEADERS } from '../../../../gateway/request/service-headers.ts';
import { startTestGateway } from '../../../support/gateway.ts';

const gateway = await startTestGateway(t);

const ASK = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };

async function warningOf(headers: Record<string, string>, body: unknown = ASK): Promise<string | null> {
  const answer = await gateway.chat(body, headers);
  await answer.text();
  return answer.headers.get('service-warning');
}

t.test('a misspelt Service header is named in Service-Warning with the nearest known one', async (t) => {
  for (const [sent, meant] of [
    ['Service-Usr-Id', 'Service-User-Id'],
    ['service-userid', 'Service-User-Id'],
    ['Service-Session', 'Service-Session-Id'],
    ['Service-Promt-Id', 'Service-Prompt-Id'],
    ['Service-Rate-Limit-Policy', 'Service-RateLimit-Policy'],
    ['Service-Cache-Enable', 'Service-Cache-Enabled'],
    ['Service-Propety-Plan', 'Service-Property-Plan'],
    ['Service-Properties-Plan', 'Service-Property-Plan'],
  ] as const) {
    const answer = await gateway.chat(ASK, { [sent]: 'x' });
    t.equal(answer.status, 200, sent);
    await answer.text();
    const warning = answer.headers.get('service-warning') ?? '';
    t.equal(warning.toLowerCase(), `${sent} is not known here; did you mean ${meant}?`.toLowerCase());
    t.ok(warning.endsWith(`${meant}?`), 'in the spelling of the documentation');
  }
  t.equal(await warningOf({ 'Service-Zzzzzzzz': 'x' }), 'Service-Zzzzzzzz is not known here');
});

t.test('a Helicone header is answered with the Service header that it corresponds to', async (t) => {
  for (const [sent, ours] of [
    ['helicone-auth', 'Service-Auth'],
    ['helicone-user-id', 'Service-User-Id'],
    ['helicone-property-plan', 'Service-Property-plan'],
    ['helicone-ratelimit-policy', 'Service-RateLimit-Policy'],
    ['helicone-retry-num', 'Service-Retry-Num'],
  ] as const)
    t.equal(await warningOf({ [sent]: 'x' }), `${sent} is not read here; send ${ours}`);
});

t.test('a call with known headers alone has no warning, and neither has what browsers send', async (t) => {
  t.equal(await warningOf({ 'Service-User-Id': 'ada', 'Service-Property-Helicone': 'x' }), null);
  t.equal(await warningOf({ 'Service-Worker': 'script' }), null);
});

t.test('a refused call also has the header warning', async (t) => {
  const warning = await warningOf({ 'Service-Usr-Id': 'x' }, { model: 'no-such-model', messages: [] });
  t.match(warning, /Service-User-Id/);
});

t.test('an unknown header does not reach the provider', async (t) => {
  await warningOf({ 'Service-Usr-Id': 'x', 'Helicone-Auth': 'Bearer secret' });
  const { headers } = gateway.provider.requests.at(-1)!;
  t.notOk(Object.keys(headers).some((name) => /^(?:service|helicone)-/.test(name)));
});

t.test('a request with many unknown headers is answered with a few warnings', async (t) => {
  const many = Array.from({ length: 40 }, (_, index) => [`service-x${index}-${'y'.repeat(200)}`, '1']).flat();
  const { warnings } = readCallHeaders(many);
  t.equal(warnings.length, 5);
  for (const warning of warnings) t.ok(warning.length < 200);
});

t.test('a known header is read in any case, and one with a changed character gets a warning', async () => {
  const name = fc.constantFrom(...SERVICE_HEADERS.filter((header) => header !== 'Service-Request-Id'));
  fc.assert(
    fc.property(name, fc.boolean(), fc.nat(), (header, isUpper, place) => {
      const value = /Enabled|Omit|Coalesce/.test(header) ? 'true' : '1';
      const cased = isUpper ? header.toUpperCase() : header.toLowerCase();
      if (readCallHeaders([cased, value]).warnings.length > 0) return false;
      const at = 'Service-'.length + (place % (header.length - 'Service-'.length));
      const changed = `${header.slice(0, at)}~${header.slice(at + 1)}`;
      return readCallHeaders([changed, value]).warnings[0]?.endsWith(`did you mean ${header}?`) === true;
    }),
    { numRuns: 2_000 },
  );
});
