/** Responses of which no record can be made as asked: the client gets them all the same, and the call ends. */
import t from 'tap';
import { cents, settlementsOf } from './limits/settlements.ts';
import { CHAT, readAll, STREAM, startLimitsWorld } from './limits/world.ts';

const world = await startLimitsWorld(t);
const { gateway, provider } = world;
const { reservations } = settlementsOf(world);
t.afterEach(() => provider.script(null));

const OMITTED = { 'Service-Omit-Response': 'true' };
/** Longer than any of these calls takes, and shorter than tap's patience. */
const PATIENCE_MS = 20_000;
/** Deeper than `JSON.stringify` can write. */
const DEEP = '['.repeat(200_000) + ']'.repeat(200_000);
const USAGE = `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"x":${DEEP}}`;
const HEAD = '"id":"c1","model":"gpt-4o-mini"';
const PLAIN = `{${HEAD},"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":${USAGE}}`;
const delta = (text: string) =>
  `data: {${HEAD},"choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}\n\n`;
const DONE = 'data: [DONE]\n\n';
const STREAMED = `${delta('Hi')}data: {${HEAD},"choices":[],"usage":${USAGE}}\n\n${DONE}`;

const asBytes = (body: string, isStream: boolean) => ({
  kind: 'bytes' as const,
  body,
  headers: { 'content-type': isStream ? 'text/event-stream' : 'application/json' },
});

const call = async (key: string, headers: Record<string, string>, body: object) =>
  readAll(await gateway.chat(key, headers, body, AbortSignal.timeout(PATIENCE_MS)));

for (const [what, body, response] of [
  ['a response', CHAT, PLAIN],
  ['a stream', { ...STREAM, stream_options: { include_usage: true } }, STREAMED],
] as const) {
  t.test(
    `${what} with a usage nested too deep to be written reaches its client whole, and its record has nothing of it`,
    async (t) => {
      const key = await world.newKey();
      provider.script(() => asBytes(response, body !== CHAT));
      const { status, text } = await call(key, { ...OMITTED, ...cents(100) }, body);
      t.equal(status, 200, text.slice(0, 200));
      t.ok(text === response, `${text.length} of ${response.length} bytes`);
      const [record] = await world.records(key, 1);
      t.match(record, { status: 200, response_text: '{}', cost_nano: null });
      t.equal((await reservations(key, 1)).length, 1, 'and its reservation is settled');
    },
  );
}

t.test('calls that wait for a stream whose record cannot be written get a stream of their own', async (t) => {
  const key = await world.newKey();
  provider.script(() => asBytes(STREAMED, true));
  const headers = { ...OMITTED, 'Service-Cache-Enabled': 'true', 'Service-Cache-Coalesce': 'true' };
  const given = await Promise.all([1, 2, 3].map(() => call(key, headers, STREAM)));
  t.ok(given.every(({ status, text }) => status === 200 && text.endsWith(DONE)));
});

t.test('a stream with an error whose code is nested too deep to be read ends with that error', async (t) => {
  const key = await world.newKey();
  const response = `${delta('Hi')}data: {"error":{"message":"Gone","code":${DEEP}}}\n\n${DONE}`;
  provider.script(() => asBytes(response, true));
  const { status, text } = await call(key, cents(100), STREAM);
  t.equal(status, 200);
  t.ok(text === response, `${text.length} of ${response.length} bytes`);
  t.equal((await reservations(key, 1)).length, 1);
});
