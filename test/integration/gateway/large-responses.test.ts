/**
 * Large responses over real sockets that the gateway has to read: for what they cost, for the cache, or for what is recorded
 * of them without their text. They do not hold up the calls of others.
 */
import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';
import { waitFor } from '../../support/assay.ts';
import { bodyOf } from '../../support/bodies/families.ts';
import { startSender } from '../../support/bodies/sender.ts';
import { leastOf } from '../../support/least-of.ts';
import { longestTurnMs } from '../../support/turn-cpu.ts';
import { createWorld } from '../../support/world.ts';

/** A stream of 28 MiB, of as many tokens as the longest answers have. */
const WORDS = 128_000;
/** A stream of 7 MiB, which is small enough to be stored. */
const STORED_WORDS = 32_000;
const MESSAGE =
  'data: {"type":"response.output_text.delta","item_id":"msg_0","output_index":0,"content_index":0';
const CENTS = { 'service-ratelimit-policy': '1000000;w=60;u=cents' };
const CACHED = { 'service-cache-enabled': 'true' };
const OMITTED = { 'service-omit-response': 'true' };
const COALESCED = { 'service-cache-coalesce': 'true' };
/** What such a stream costs in nano-dollars, by OpenAI's price list. */
const STREAM_NANO = 10 * 150 + WORDS * 600;
const EMBEDDINGS_BYTES = 7 * 1024 * 1024;
const LEFT_AFTER_BYTES = 20 * 1024 * 1024;

type LoggedRow = {
  user: string;
  status: number;
  error_code: string | null;
  total_tokens: number | null;
  cost: number | null;
  text: string;
};

const world = await createWorld(t);
const sender = await startSender();
t.teardown(() => sender.stop());
const { keyWith } = await world.organization({ tier: 'enterprise' });
const key = await keyWith(['gateway']);
const settings = {
  DATA_DIR: world.directory(),
  OPENAI_API_KEY: 'sk-operator',
  OPENAI_BASE_URL: sender.providerUrl,
};
const gateway = await world.start('gateway', settings);

function cpuMs(work: () => unknown): number {
  const { user, system } = process.threadCpuUsage();
  work();
  const now = process.threadCpuUsage();
  return (now.user + now.system - user - system) / 1_000;
}

/** What a third of a stream of so many words takes to be put together on this machine, at its speed now, in ms of CPU. */
const boundOf = (words: number) =>
  leastOf(3, async () => {
    const stream = `${MESSAGE},"delta":" word","logprobs":[],"obfuscation":"abcdefghijk"}\n\n`.repeat(
      words / 3,
    );
    return cpuMs(() => assembleStream(stream));
  });

const boundOfStreams = await boundOf(WORDS);
const boundOfJson = await leastOf(3, async () => {
  const text = bodyOf('empty arrays', EMBEDDINGS_BYTES / 3, '', '').toString();
  return cpuMs(() => JSON.parse(text));
});

let users = 0;
function nextUser(): string {
  users += 1;
  return `user-${users}`;
}

const bodyFor = (user: string, words: number) =>
  `{"model":"gpt-4o-mini","stream":true,"max_output_tokens":${words},"input":"I am ${user}"}`;
const headersFor = (user: string, headers: Record<string, string>) => ({
  authorization: `Bearer ${key}`,
  'content-type': 'application/json',
  'service-user-id': user,
  ...headers,
});

/** Makes a call from the sender's thread. Its answer has the last characters alone. */
const send = (path: string, user: string, head: string, headers: Record<string, string>) =>
  sender.send({
    url: `${gateway.url}/v1/${path}`,
    headers: headersFor(user, headers),
    family: 'one number',
    bytes: head.length + 100,
    head,
    tail: '"}',
    isPacked: false,
    isTorn: false,
    lastCharacters: 200,
  });
const sendStream = (user: string, words: number, headers: Record<string, string>) =>
  send('responses', user, `${bodyFor(user, words).slice(0, -2)} `, headers);
const fetchStream = (
  user: string,
  words: number,
  headers: Record<string, string>,
  { at = gateway, signal }: { at?: { url: string }; signal?: AbortSignal } = {},
) =>
  fetch(`${at.url}/v1/responses`, {
    method: 'POST',
    headers: headersFor(user, headers),
    body: bodyFor(user, words),
    ...(signal && { signal }),
  });

const rowsOf = (users: readonly string[]) => world.sql<LoggedRow[]>`
  select r.user_id as user, r.status, r.error_code, r.total_tokens, r.cost_nano::float8 as cost, b.response_text as text
    from assay.requests r join assay.bodies b using (organization_id, created_at, request_id)
   where r.user_id = any(${users})`;

/** Numbers of calls made under a limit in money, of streams and of packed or plain embeddings. */
const limited = { streams: 0, embeddings: 0 };
/** The last users whose calls were made under these headers. */
const userOf = { cents: '', omitted: '', packed: '' };

for (const [what, headers, name] of [
  ['under a limit in money', CENTS, 'cents'],
  ['that other calls may wait for', { ...CACHED, ...COALESCED }, null],
  ['whose text is not recorded', OMITTED, 'omitted'],
  ['that is all of this', { ...CENTS, ...CACHED, ...COALESCED, ...OMITTED }, null],
] as const) {
  t.test(`a stream of 28 MiB ${what} does not hold up the event loop`, async (t) => {
    const longest = await longestTurnMs(10, boundOfStreams, async () => {
      const user = nextUser();
      if (name !== null) userOf[name] = user;
      if ('service-ratelimit-policy' in headers) limited.streams += 1;
      const { status, text } = await sendStream(user, WORDS, headers);
      t.equal(status, 200);
      t.match(text, `"output_tokens":${WORDS}`, 'it came to its end');
    });
    t.comment(`${longest} ms, and ${boundOfStreams} ms at most`);
    t.ok(longest < boundOfStreams, `${longest} ms of ${boundOfStreams}`);
  });
}

for (const [what, headers, name] of [
  ['packed embeddings under a limit in money', { ...CENTS, 'accept-encoding': 'gzip' }, 'packed'],
  ['embeddings under a limit in money', CENTS, null],
  ['embeddings that are not recorded', OMITTED, null],
] as const) {
  t.test(`millions of values in ${what} do not hold up the event loop`, async (t) => {
    const longest = await longestTurnMs(10, boundOfJson, async () => {
      const user = nextUser();
      if (name !== null) userOf[name] = user;
      if ('service-ratelimit-policy' in headers) limited.embeddings += 1;
      const head = '{"model":"text-embedding-3-small","input":["Hello"],"x":"';
      const { status } = await send('embeddings', user, head, headers);
      t.equal(status, 200);
    });
    t.comment(`${longest} ms, and ${boundOfJson} ms at most`);
    t.ok(longest < boundOfJson, `${longest} ms of ${boundOfJson}`);
  });
}

t.test('a stream of 7 MiB is stored for later calls, and one of more than 8 MiB is not', async (t) => {
  for (const [words, again] of [
    [STORED_WORDS, 'HIT'],
    [WORDS, 'MISS'],
  ] as const) {
    const user = nextUser();
    const given = [await sendStream(user, words, CACHED), await sendStream(user, words, CACHED)];
    t.strictSame(
      given.map(({ headers }) => headers['service-cache']),
      ['MISS', again],
    );
    t.equal(given[0]!.text, given[1]!.text);
  }
});

t.test('a call that waits for a stream of 28 MiB gets it', async (t) => {
  const user = nextUser();
  const headers = { ...CACHED, ...COALESCED };
  const call = async () => {
    const response = await fetchStream(user, WORDS, headers);
    return { cache: response.headers.get('service-cache'), text: await response.text() };
  };
  const [one, other] = await Promise.all([call(), call()]);
  t.strictSame([one.cache, other.cache].sort(), ['HIT', 'MISS']);
  t.ok(one.text === other.text, `${one.text.length} and ${other.text.length} characters`);
});

t.test('a stop of the gateway waits for the records of long streams whose clients left', async (t) => {
  const others = { ...settings, DATA_DIR: world.directory() };
  const stopping = await world.start('gateway', others);
  const user = nextUser();
  const leaving = new AbortController();
  const at = { at: stopping, signal: leaving.signal };
  const response = await fetchStream(user, WORDS, { ...CENTS, ...OMITTED }, at);
  let bytes = 0;
  for await (const chunk of response.body!) {
    bytes += chunk.length;
    if (bytes > LEFT_AFTER_BYTES) break;
  }
  leaving.abort();
  await stopping.stop();
  const ingest = await world.start('ingest', others);
  await waitFor('the record', async () => (await rowsOf([user])).length === 1);
  t.match(await rowsOf([user]), [{ status: 499, error_code: 'client_closed_request' }]);
  const open = await world.sql`select 1 from assay.limit_reservations where settled_nano is null`;
  t.equal(open.length, 0, 'every reservation is settled');
  await ingest.stop();
});

t.test('what is recorded and settled of large responses is exact', async (t) => {
  await gateway.stop();
  await world.start('ingest', settings);
  const users = Object.values(userOf);
  await waitFor('the records', async () => (await rowsOf(users)).length === users.length);
  const rows = Object.fromEntries((await rowsOf(users)).map((row) => [row.user, row]));
  const whole = { status: 200, error_code: null, total_tokens: WORDS + 10, cost: STREAM_NANO };
  t.match(rows[userOf.cents], { ...whole, text: /^\{.* word word word/ });
  t.match(rows[userOf.omitted], whole);
  t.notMatch(rows[userOf.omitted]!.text, 'word');
  t.match(rows[userOf.packed], { status: 200, total_tokens: 1 });
  const settled = await world.sql<{ nano: number }[]>`
    select settled_nano::float8 as nano from assay.limit_reservations`;
  const costs = settled.map(({ nano }) => nano);
  t.notOk(costs.includes(null as never), 'every reservation is settled');
  t.equal(costs.filter((nano) => nano === STREAM_NANO).length, limited.streams);
  t.equal(costs.filter((nano) => nano === rows[userOf.packed]!.cost).length, limited.embeddings);
});
