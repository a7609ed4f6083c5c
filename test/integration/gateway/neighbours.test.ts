/** Organizations that share a gateway, where one of them sends calls that its provider is silent about. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { waitFor } from '../../support/assay.ts';
import { startTestGateway } from '../../support/gateway.ts';
import type { ScriptedProvider } from '../../support/scripted-provider.ts';
import { storePrompt } from '../../support/stored-prompt.ts';
import { scriptedProvider } from '../../support/world.ts';

const HELLO = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };
const SILENT = { ...HELLO, messages: [{ role: 'user', content: 'silence' }] };
/** Long before a silent call is given up, which takes ten minutes. */
const SOON_MS = 20_000;

function beSilentWhenAsked(provider: ScriptedProvider): void {
  provider.script(({ body }) =>
    body.includes('"silence"') ? { kind: 'hang' } : { kind: 'answer', text: 'here' },
  );
}

/** A gateway of two organizations: `call` makes a call of the first, `neighbour` one of the second. */
async function setUp(t: Test, environment: Record<string, string> = {}) {
  const gateway = await startTestGateway(t, environment);
  beSilentWhenAsked(gateway.provider);
  const { organizationId } = await createOrganization(gateway.sql, { name: 'neighbour', tier: 'enterprise' });
  const { key } = await createKey(gateway.sql, { organizationId, scopes: ['gateway'] });
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const neighbour = (body: unknown, headers: Record<string, string> = {}, signal = leaving.signal) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal,
    });
  const isSoon = async (what: string, answer: Promise<Response>) => {
    const first = await Promise.race([answer, sleep(SOON_MS, null, { ref: false })]);
    if (first === null) throw new Error(`${what} had no answer within ${SOON_MS} ms`);
    return first;
  };
  return { ...gateway, neighbour, neighbourId: organizationId, neighbourKey: key, isSoon };
}

t.test('1,024 silent calls of one organization do not keep another from its provider', async (t) => {
  const { neighbour, isSoon, chat, provider } = await setUp(t);
  for (let n = 0; n < 1_024; n += 1) neighbour(SILENT).catch(() => {});
  await waitFor('its calls to reach the provider', () => provider.requests.length >= 512);
  const answer = await isSoon('the other organization', chat(HELLO));
  t.equal(answer.status, 200);
  t.match(await answer.json(), { choices: [{ message: { content: 'here' } }] });
  t.equal(provider.requests.length, 513, 'half of the connections are left to others');
});

t.test('an organization at its bound of connections gets a 503, or its fallback model', async (t) => {
  const other = await scriptedProvider(t);
  const { neighbour, isSoon, chat, provider, url, record } = await setUp(t, {
    PROVIDER_CONCURRENCY_PER_ORGANIZATION: '2',
    CUSTOM_BASE_URL: other.url,
    CUSTOM_API_KEY: 'sk-custom',
  });
  const staying = new AbortController();
  t.teardown(() => staying.abort());
  for (let n = 0; n < 2; n += 1) neighbour(SILENT, {}, staying.signal).catch(() => {});
  await waitFor('two calls under way', () => provider.requests.length === 2);
  const waiting = [neighbour(SILENT), neighbour(SILENT)];
  const refused = await isSoon('a call that waits', Promise.race(waiting));
  t.equal(refused.status, 503);
  t.equal(refused.headers.get('retry-after'), '5');
  t.match(await refused.json(), {
    error: { code: 'provider_busy', type: 'service_unavailable', message: /^Your organization has 2 calls/ },
  });
  t.match(await record(refused), { status: 503, error_code: 'provider_busy' });
  await Promise.all(waiting);

  const elsewhere = await isSoon(
    'a call with a fallback',
    neighbour({ ...HELLO, model: 'gpt-4o-mini,custom/m' }),
  );
  t.equal(elsewhere.status, 200);
  t.equal(elsewhere.headers.get('service-fallback-index'), '1');
  t.equal((await chat(HELLO)).status, 200, 'others go on, and the provider does not count as ill');
  t.match(
    await (await fetch(`${url}/metrics`)).text(),
    /^assay_gateway_provider_busy_total\{[^}]*provider="OPENAI"[^}]*\} 3$/m,
  );

  const next = neighbour(HELLO);
  staying.abort();
  t.equal((await isSoon('a call that waited', next)).status, 200, 'a client that leaves makes room');
});

const MIB = 1024 * 1024;
const ROOM = { MAX_BODY_BYTES: `${MIB}`, BODIES_MEMORY_BYTES: `${8 * MIB}` };

async function metric(url: string, name: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^assay_http_${name}(?:\\{[^}]*\\})? (\\d+)$`, 'm').exec(metrics)?.[1]);
}

t.test('large bodies of one organization that never end do not keep the bodies of another', async (t) => {
  const { url, neighbourKey, chat, isSoon } = await setUp(t, ROOM);
  const { hostname, port } = new URL(url);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${neighbourKey}\r\ncontent-length: ${MIB}\r\n\r\n`;
  for (let n = 0; n < 32; n += 1) {
    const socket = connect(Number(port), hostname).on('error', () => {});
    t.teardown(() => socket.destroy());
    socket.write(head + ' '.repeat(MIB - 1));
  }
  await waitFor('the others to wait', async () => (await metric(url, 'bodies_waiting')) === 28);
  t.equal(await metric(url, 'bodies_bytes'), 4 * MIB, 'half of the room');
  const large = { ...HELLO, messages: [{ role: 'user', content: 'x'.repeat(MIB / 2) }] };
  const answer = await isSoon('a large body of the other organization', chat(large));
  t.equal(answer.status, 200);
  await answer.text();
});

t.test('compressed bodies count as large as they are', async (t) => {
  const { url, neighbourKey } = await setUp(t, ROOM);
  const text = JSON.stringify({ ...SILENT, padding: 'x'.repeat(0.9 * MIB) });
  const body = gzipSync(text);
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  for (let n = 0; n < 16; n += 1) {
    const headers = { authorization: `Bearer ${neighbourKey}`, 'content-encoding': 'gzip' };
    fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body, signal: leaving.signal }).catch(
      () => {},
    );
  }
  await waitFor('the others to wait', async () => (await metric(url, 'bodies_waiting')) === 12);
  await waitFor('four to be unpacked', async () => (await metric(url, 'bodies_bytes')) === 4 * text.length);
  t.equal(await metric(url, 'bodies_waiting'), 12);
});

t.test(
  'what stored prompts make of small bodies needs room, and is refused where there is none',
  async (t) => {
    const { url, sql, neighbour, neighbourId, chat } = await setUp(t, ROOM);
    const body = { ...HELLO, messages: [{ role: 'user', content: 'x'.repeat(0.9 * MIB) }] };
    const { promptId } = await storePrompt(sql, neighbourId, { body });
    const asked = { prompt_id: promptId, messages: SILENT.messages };
    const leaving = new AbortController();
    const taken: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      neighbour(asked, {}, leaving.signal).catch(() => {});
      await waitFor(
        'it to have room',
        async () => (await metric(url, 'bodies_bytes')) > (n + 0.5) * 0.9 * MIB,
      );
      taken.push(await metric(url, 'bodies_bytes'));
    }
    t.same(
      taken.map((bytes) => bytes / taken[0]!),
      [1, 2, 3, 4],
    );
    const refused = await neighbour(asked);
    t.equal(refused.status, 503);
    t.match(await refused.json(), { error: { code: 'bodies_busy' } });
    t.equal((await chat(HELLO)).status, 200);
    leaving.abort();
    await waitFor('all room to be free', async () => (await metric(url, 'bodies_bytes')) === 0);
  },
);

t.test('the bodies of further models of a list need room as well', async (t) => {
  const { url, neighbour } = await setUp(t, {
    ...ROOM,
    CUSTOM_BASE_URL: 'http://127.0.0.1:9',
    CUSTOM_API_KEY: 'k',
  });
  const large = { ...SILENT, padding: 'x'.repeat(0.9 * MIB) };
  const list = (count: number) => Array.from({ length: count }, (_, at) => `custom/m${at}`).join();
  const refused = await neighbour({ ...large, model: `gpt-4o-mini,${list(4)}` });
  t.equal(refused.status, 503, 'five times 0.9 MiB are more than half of the room');
  t.match(await refused.json(), { error: { code: 'bodies_busy' } });
  neighbour({ ...large, model: `gpt-4o-mini,${list(2)}` }).catch(() => {});
  await waitFor('its room', async () => (await metric(url, 'bodies_bytes')) > 3 * 0.9 * MIB);
});
