/** Large and hostile bodies over real sockets: whatever they hold, they do not hold up the calls of others. */
import t from 'tap';
import { waitFor } from '../../support/assay.ts';
import { bodyOf } from '../../support/bodies/families.ts';
import { startServed } from '../../support/bodies/served.ts';
import { leastOf } from '../../support/least-of.ts';
import { longestTurnMs } from '../../support/turn-cpu.ts';

const MIB = 1024 * 1024;
const BYTES = 16 * MIB;
const MESSAGES = '"messages":[{"role":"user","content":"Hello"}]';
const TIMES = '"created_at":"2026-11-01T12:00:00Z"';
const CHAT = { head: `{"model":"openai/gpt-4o-mini","stream":false,${MESSAGES},"x":`, tail: '}' };
const CLAUDE = { head: '{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":', tail: '}]}' };
const LOGGED_REQUEST = {
  head: '{"provider":"openai","model":"m","request":{"body":{"x":',
  tail: `},${TIMES}},"response":{"body":{},"status":200,${TIMES}}}`,
};
const LOGGED_ANSWER = {
  head: `{"provider":"openai","model":"m","request":{"body":{},${TIMES}},"response":{"status":200,${TIMES},"body":`,
  tail: '}}',
};

const served = await startServed();
t.teardown(() => served.stop());

/**
 * What JSON.parse takes on this machine, at its speed now, for a third of a body of the kind that took the loop longest:
 * some 120 ms here, where the longest turns take 5 to 35, and took more than a second.
 */
const bound = await leastOf(3, async () => {
  const text = bodyOf('empty arrays', BYTES / 3, '', '').toString();
  const { user, system } = process.threadCpuUsage();
  JSON.parse(text);
  const now = process.threadCpuUsage();
  return (now.user + now.system - user - system) / 1_000;
});

type Case = {
  what: string;
  family: string;
  on: { head: string; tail: string };
  status: number;
  isPacked?: boolean;
  isTorn?: boolean;
  headers?: Record<string, string>;
};

const CASES: readonly Case[] = [
  { what: 'millions of empty arrays', family: 'empty arrays', on: CHAT, status: 200 },
  { what: 'gzip of them', family: 'empty arrays', on: CHAT, status: 200, isPacked: true },
  { what: 'a million members', family: 'members', on: CHAT, status: 200, isPacked: true },
  { what: 'lists nested 90,000 levels deep', family: 'deep lists', on: CHAT, status: 200, isPacked: true },
  { what: 'one long string', family: 'one string', on: CHAT, status: 200 },
  { what: 'escapes', family: 'unicode escapes', on: CHAT, status: 200, isPacked: true },
  { what: 'token ids', family: 'token ids', on: CHAT, status: 200 },
  { what: 'a torn document', family: 'short strings', on: CHAT, status: 400, isTorn: true },
  {
    what: 'a cached call of a million members',
    family: 'members',
    on: CHAT,
    status: 200,
    headers: { 'service-cache-enabled': 'true' },
  },
  { what: 'a translated call of empty arrays', family: 'empty arrays', on: CLAUDE, status: 400 },
  { what: 'a translated call of escapes', family: 'unicode escapes', on: CLAUDE, status: 200 },
  { what: 'a call to log of empty objects', family: 'empty objects', on: LOGGED_REQUEST, status: 200 },
  { what: 'a call to log of a million members', family: 'members', on: LOGGED_REQUEST, status: 200 },
  { what: 'an answer to log of escapes', family: 'unicode escapes', on: LOGGED_ANSWER, status: 200 },
];

for (const { what, family, on, status, isPacked = false, isTorn = false, headers } of CASES) {
  t.test(`${what} in ${BYTES / MIB} MiB do not hold up the event loop`, async (t) => {
    const isLogged = on === LOGGED_REQUEST || on === LOGGED_ANSWER;
    const url = isLogged ? `${served.apiUrl}/v1/log/request` : `${served.gatewayUrl}/v1/chat/completions`;
    const longest = await longestTurnMs(10, bound, async () => {
      const sent = await served.sender.send({
        url,
        headers: { ...served.headers, ...headers },
        family,
        bytes: BYTES,
        ...on,
        isPacked,
        isTorn,
      });
      t.equal(sent.status, status, sent.text.slice(0, 300));
    });
    t.comment(`${longest} ms, and ${bound} ms at most`);
    t.ok(longest < bound, `${longest} ms of ${bound}`);
  });
}

t.test('a response of millions of values that is stored does not hold up the event loop', async (t) => {
  const send = (input: number) =>
    served.sender.send({
      url: `${served.gatewayUrl}/v1/embeddings`,
      headers: { ...served.headers, 'service-cache-enabled': 'true' },
      family: 'one number',
      bytes: 200,
      head: `{"model":"text-embedding-3-small","input":["${input}"],"x":"`,
      tail: '"}',
      isPacked: false,
      isTorn: false,
    });
  let inputs = 0;
  const longest = await longestTurnMs(10, bound, async () => {
    inputs += 1;
    const { status, headers, text } = await send(inputs);
    t.strictSame([status, headers['service-cache']], [200, 'MISS']);
    await waitFor('the response to be stored', async () => {
      const again = await send(inputs);
      return again.headers['service-cache'] === 'HIT' && again.text === text;
    });
  });
  t.comment(`${longest} ms, and ${bound} ms at most`);
  t.ok(longest < bound, `${longest} ms of ${bound}`);
});

/** A conversation that is translated, in which a tool was called with `family` in its arguments. */
const ARGUMENTS = {
  head: '{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"Hello"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\\"x\\":',
  tail: '}"}}]},{"role":"tool","tool_call_id":"1","content":"done"}]}',
};

const FAMILIES: readonly [family: string, status: number][] = [
  ['exponents', 200],
  ['exponents between escaped commas', 200],
  // Of these so many bytes hold more values than are translated.
  ['nested arrays', 400],
];

for (const [family, expected] of FAMILIES) {
  t.test(`arguments of a tool, ${family} in a string, do not hold up the event loop`, async (t) => {
    const url = `${served.gatewayUrl}/v1/chat/completions`;
    const sending = { url, headers: served.headers, family, bytes: 900_000, ...ARGUMENTS };
    const longest = await longestTurnMs(10, bound, async () => {
      const { status, text } = await served.sender.send({ ...sending, isPacked: false, isTorn: false });
      t.equal(status, expected, text.slice(0, 300));
    });
    t.comment(`${longest} ms, and ${bound} ms at most`);
    t.ok(longest < bound, `${longest} ms of ${bound}`);
  });
}

t.test('arguments of a tool that are nested too deep to be translated are refused', async (t) => {
  const sending = { url: `${served.gatewayUrl}/v1/chat/completions`, headers: served.headers };
  const [open, close] = ['['.repeat(6_000), ']'.repeat(6_000)];
  const on = { head: `${ARGUMENTS.head}${open}`, tail: `${close}${ARGUMENTS.tail}` };
  const family = { family: 'token ids', bytes: 13_000, ...on, isPacked: false, isTorn: false };
  const { status, text } = await served.sender.send({ ...sending, ...family });
  t.equal(status, 400, text);
  t.match(JSON.parse(text).error, {
    code: 'invalid_body',
    message: 'The arguments of a tool are nested too deep to translate them into the dialect of ANTHROPIC',
  });
});

t.test(
  'arguments of tools that hold more than 250,000 values together are refused with that reason',
  async (t) => {
    const sending = { url: `${served.gatewayUrl}/v1/chat/completions`, headers: served.headers };
    // Two calls, of which neither alone holds so many: some 170,000 each.
    const other = `"}},{"id":"2","type":"function","function":{"name":"f","arguments":"[${'[],'.repeat(170_000)}[]]`;
    const on = { head: ARGUMENTS.head, tail: `}${other}${ARGUMENTS.tail.slice(1)}` };
    const family = { family: 'empty arrays', bytes: MIB, ...on, isPacked: false, isTorn: false };
    const { status, text } = await served.sender.send({ ...sending, ...family });
    t.equal(status, 400, text.slice(0, 300));
    t.match(JSON.parse(text).error, {
      code: 'invalid_body',
      message: 'messages hold more than 250000 values in the arguments of tools, too much to translate',
    });
  },
);

t.test('a translated call of more than 250,000 values is refused with that reason', async (t) => {
  const sending = { url: `${served.gatewayUrl}/v1/chat/completions`, headers: served.headers };
  const family = { family: 'empty arrays', bytes: MIB, ...CLAUDE, isPacked: false, isTorn: false };
  const { status, text } = await served.sender.send({ ...sending, ...family });
  t.equal(status, 400);
  t.equal(
    JSON.parse(text).error.message,
    'The request body holds more than 250000 values, too much to translate into the dialect of ANTHROPIC',
  );
});

t.test('a field of more than 64 KiB that the gateway has to parse is refused by its name', async (t) => {
  const head = `{"model":"gpt-4o-mini",${MESSAGES},"stream_options":`;
  const { status, text } = await served.sender.send({
    url: `${served.gatewayUrl}/v1/chat/completions`,
    headers: served.headers,
    family: 'members',
    bytes: 100_000,
    head,
    tail: '}',
    isPacked: false,
    isTorn: false,
  });
  t.equal(status, 400);
  t.equal(JSON.parse(text).error.message, 'stream_options may be at most 65536 bytes long');
});

for (const bytes of [100, 100_000]) {
  t.test(`a byte order mark before ${bytes} bytes of JSON is accepted on both ports`, async (t) => {
    const send = async (url: string, on: { head: string; tail: string }) => {
      const { head, tail } = on;
      const sending = {
        url,
        headers: served.headers,
        family: 'one string',
        bytes: bytes + head.length + tail.length,
      };
      return served.sender.send({ ...sending, head: `\ufeff${head}`, tail, isPacked: false, isTorn: false });
    };
    const relayed = await send(`${served.gatewayUrl}/v1/chat/completions`, CHAT);
    t.equal(relayed.status, 200, relayed.text);
    const logged = await send(`${served.apiUrl}/v1/log/request`, LOGGED_REQUEST);
    t.equal(logged.status, 200, logged.text);
  });
}
