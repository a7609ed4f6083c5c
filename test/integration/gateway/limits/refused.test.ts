/** Policies that cannot be held to are refused in words that name the part; a call is never silently without its limit. */
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { CHAT, limitHeaders, readAll, remainingOf, STREAM, startLimitsWorld } from './world.ts';

const world = await startLimitsWorld(t);
const { gateway, provider } = world;
const key = await world.newKey();

const PREFIX = 'Invalid rate-limit policy: ';
const NUMBER = 'must be a number, as in 100';
const WINDOW = 'must be a whole number of seconds from 60 to 31536000';
const SEGMENT = 'must be 1 to 64 letters, digits, hyphens or underscores';
const PART = 'must be w=<seconds>, u=<unit> or s=<segment>';

/** A policy header, and the sentence that refuses it. */
const REFUSED: [policy: string, sentence: string][] = [
  ['', `${PREFIX}quota "" ${NUMBER}`],
  [';w=60', `${PREFIX}quota "" ${NUMBER}`],
  ['w=60', `${PREFIX}quota "w=60" ${NUMBER}`],
  ['0;w=60', `${PREFIX}quota "0" must be more than 0`],
  ['0.0;w=60;u=cents', `${PREFIX}quota "0.0" must be more than 0`],
  ['-1;w=60', `${PREFIX}quota "-1" ${NUMBER}`],
  ['+5;w=60', `${PREFIX}quota "+5" ${NUMBER}`],
  ['NaN;w=60', `${PREFIX}quota "NaN" ${NUMBER}`],
  ['Infinity;w=60', `${PREFIX}quota "Infinity" ${NUMBER}`],
  ['1e10;w=60', `${PREFIX}quota "1e10" ${NUMBER}`],
  ['1e2;w=60', `${PREFIX}quota "1e2" ${NUMBER}`],
  ['0x10;w=60', `${PREFIX}quota "0x10" ${NUMBER}`],
  ['1_000;w=60', `${PREFIX}quota "1_000" ${NUMBER}`],
  ['10 0;w=60', `${PREFIX}quota "10 0" ${NUMBER}`],
  ['10000000000;w=60', `${PREFIX}quota "10000000000" must be at most 1000000000`],
  ['1000000001;w=60', `${PREFIX}quota "1000000001" must be at most 1000000000`],
  ['1000000000.1;w=60;u=cents', `${PREFIX}quota "1000000000.1" must be at most 1000000000`],
  ['1.5;w=60', `${PREFIX}quota "1.5" must be a whole number of requests`],
  ['1.0;w=60;u=request', `${PREFIX}quota "1.0" must be a whole number of requests`],
  ['.5;w=60;u=cents', `${PREFIX}quota ".5" ${NUMBER}`],
  ['0.00000001;w=60;u=cents', `${PREFIX}quota "0.00000001" may have at most 7 decimals`],
  ['100', `${PREFIX}w is missing: give the length of the window in seconds, as in w=60`],
  ['100;u=cents', `${PREFIX}w is missing: give the length of the window in seconds, as in w=60`],
  ['100;w=', `${PREFIX}window "" ${WINDOW}`],
  ['100;w=59', `${PREFIX}window "59" ${WINDOW}`],
  ['100;w=0', `${PREFIX}window "0" ${WINDOW}`],
  ['100;w=-60', `${PREFIX}window "-60" ${WINDOW}`],
  ['100;w=60.5', `${PREFIX}window "60.5" ${WINDOW}`],
  ['100;w=60s', `${PREFIX}window "60s" ${WINDOW}`],
  ['100;w=1e3', `${PREFIX}window "1e3" ${WINDOW}`],
  ['100;w=31536001', `${PREFIX}window "31536001" ${WINDOW}`],
  ['100;w=60;w=60', `${PREFIX}part "w=60" repeats w, which may occur only once`],
  ['100;w=60;W=120', `${PREFIX}part "W=120" repeats w, which may occur only once`],
  ['100;w=60;u=cents;u=request', `${PREFIX}part "u=request" repeats u, which may occur only once`],
  ['100;w=60;s=user;s=plan', `${PREFIX}part "s=plan" repeats s, which may occur only once`],
  ['100;w=60;u=tokens', `${PREFIX}unit "tokens" must be request or cents`],
  ['100;w=60;u=requests', `${PREFIX}unit "requests" must be request or cents`],
  ['100;w=60;u=log', `${PREFIX}unit "log" must be request or cents`],
  ['100;w=60;u=', `${PREFIX}unit "" must be request or cents`],
  ['100;w=60;s=', `${PREFIX}segment "" ${SEGMENT}`],
  ['100;w=60;s=a b', `${PREFIX}segment "a b" ${SEGMENT}`],
  ['100;w=60;s=a.b', `${PREFIX}segment "a.b" ${SEGMENT}`],
  [`100;w=60;s=${'a'.repeat(65)}`, `${PREFIX}segment "${'a'.repeat(64)}" ${SEGMENT}`],
  ["100;w=60;s=x'--", `${PREFIX}segment "x'--" ${SEGMENT}`],
  ['100;w=60;', `${PREFIX}part "" ${PART}`],
  ['100;;w=60', `${PREFIX}part "" ${PART}`],
  ['100;w=60;q=1', `${PREFIX}part "q=1" ${PART}`],
  ['100;w=60;burst', `${PREFIX}part "burst" ${PART}`],
  ['100;w =60', `${PREFIX}part "w =60" ${PART}`],
  ['100;60', `${PREFIX}part "60" ${PART}`],
  ['w=60;100', `${PREFIX}part "100" ${PART}`],
  ['100,w=60', `${PREFIX}"100,w=60" contains more than one policy; only one is allowed`],
  ['100;w=60, 5;w=60', `${PREFIX}"100;w=60, 5;w=60" contains more than one policy; only one is allowed`],
  ['100;w=60%0d%0aX-Admin: 1', `${PREFIX}window "60%0d%0ax-admin: 1" ${WINDOW}`],
  [`100;w=60;${'x'.repeat(10_000)}`, `${PREFIX}part "${'x'.repeat(64)}" ${PART}`],
];

for (const [policy, sentence] of REFUSED) {
  t.test(
    `the policy ${JSON.stringify(policy.slice(0, 40))} is refused, and no provider is called`,
    async (t) => {
      const before = provider.requests.length;
      for (const body of [CHAT, STREAM]) {
        const answer = await gateway.chat(key, { 'Service-RateLimit-Policy': policy }, body);
        t.equal(answer.status, 400);
        t.same(limitHeaders(answer), {}, 'there is no policy to tell of');
        t.same(await answer.json(), {
          error: {
            message: sentence,
            type: 'invalid_request_error',
            param: null,
            code: 'invalid_rate_limit_policy',
          },
        });
      }
      t.equal(provider.requests.length, before);
    },
  );
}

/** Sends headers that fetch would not; the answer's head and body. */
async function callRaw(...headers: string[]): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (bytes: Buffer) => {
    received += bytes.toString('latin1');
  });
  const body = JSON.stringify(CHAT);
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'Host: gateway',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
    ...headers,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1');
  await once(socket, 'close');
  return { status: Number(received.slice(9, 12)), body: received };
}

t.test('two policy headers are refused, even if equal', async (t) => {
  const before = provider.requests.length;
  const { status, body } = await callRaw(
    'Service-RateLimit-Policy: 100;w=60',
    'service-ratelimit-policy: 100;w=60',
  );
  t.equal(status, 400);
  t.match(body, '\\"100;w=60, 100;w=60\\" contains more than one policy; only one is allowed');
  t.equal(provider.requests.length, before);
});

t.test('an empty policy header is refused as invalid', async (t) => {
  const { status, body } = await callRaw('Service-RateLimit-Policy:');
  t.equal(status, 400);
  t.match(body, `${PREFIX}quota \\"\\" ${NUMBER}`);
});

t.test('a policy with digits or letters that only look like ASCII is refused', async (t) => {
  for (const policy of ['١٠٠;w=60', '100;w=６０', '100;w=60;s=usеr', '100;w=60;ſ=user']) {
    const { status, body } = await callRaw(
      `Service-RateLimit-Policy: ${Buffer.from(policy).toString('latin1')}`,
      'Service-User-Id: u',
    );
    t.equal(status, 400, policy);
    t.match(body, 'invalid_rate_limit_policy');
  }
});

t.test('a header with a control character is refused before any provider request', async (t) => {
  const before = provider.requests.length;
  for (const broken of [
    'Service-RateLimit-Policy: 100;w=60\u0000;s=user',
    'Service-RateLimit-Policy: 100;w=60\r Service-Injected: 1',
    'Service-User-Id: a\rb',
  ]) {
    const { status } = await callRaw(broken);
    t.equal(status, 400, JSON.stringify(broken));
  }
  t.equal(provider.requests.length, before);
});

t.test('a policy is read in any case, spacing and order of parts, and reported as it was read', async (t) => {
  for (const [policy, read] of [
    ['100;w=60', '100;w=60;u=request'],
    ['  100 ; W=60 ', '100;w=60;u=request'],
    ['100\t;\tw=60', '100;w=60;u=request'],
    ['100;S=USER;U=Request;W=3600', '100;w=3600;u=request;s=user'],
    ['100;s=User;w=60', '100;w=60;u=request;s=user'],
    ['12.50;U=CENTS;w=60', '12.5;w=60;u=cents'],
    ['1000000000;w=31536000', '1000000000;w=31536000;u=request'],
    ['1000000000;w=60;u=cents', '1000000000;w=60;u=cents'],
    ['007;w=060', '7;w=60;u=request'],
    [`5;w=60;s=${'Plan_-9'.padEnd(64, 'x')}`, `5;w=60;u=request;s=${'plan_-9'.padEnd(64, 'x')}`],
  ] as const) {
    const answer = await gateway.chat(await world.newKey(), {
      'Service-RateLimit-Policy': policy,
      'Service-User-Id': 'u',
      [`Service-Property-${'PLAN_-9'.padEnd(64, 'X')}`]: 'p',
    });
    t.equal(answer.status, 200, policy);
    t.equal(answer.headers.get('service-ratelimit-policy'), read);
    await answer.text();
  }
});

t.test('a call without the user or property that its policy counts by is refused', async (t) => {
  const before = provider.requests.length;
  const noUser = 'The rate-limit policy counts by user (s=user), but the call has no header Service-User-Id';
  const noPlan =
    'The rate-limit policy counts by plan (s=plan), but the call has no header Service-Property-plan';
  for (const [policy, headers, sentence] of [
    ['5;w=60;s=user', {}, noUser],
    ['5;w=60;s=user', { 'Service-User-Id': '' }, noUser],
    ['5;w=60;s=user', { 'Service-User-Id': '   ' }, noUser],
    // A property of that name is not the user.
    ['5;w=60;s=user', { 'Service-Property-User': 'u' }, noUser],
    ['5;w=60;u=cents;s=user', {}, noUser],
    ['5;w=60;s=Plan', {}, noPlan],
    ['5;w=60;s=plan', { 'Service-Property-Plan': '' }, noPlan],
    ['5;w=60;s=plan', { 'Service-User-Id': 'u', 'Service-Property-Plans': 'pro' }, noPlan],
  ] as const) {
    const answer = await gateway.chat(key, { 'Service-RateLimit-Policy': policy, ...headers });
    t.equal(answer.status, 400, `${policy} ${JSON.stringify(headers)}`);
    t.match(await answer.json(), { error: { code: 'invalid_rate_limit_policy', message: sentence } });
  }
  const inBody = await gateway.chat(
    key,
    { 'Service-RateLimit-Policy': '5;w=60;s=user' },
    { ...CHAT, user: 'u' },
  );
  t.equal(inBody.status, 400, 'the user must be in the header, not only in the body');
  await inBody.text();
  t.equal(provider.requests.length, before);
});

t.test(
  'a user id of 10 KB is refused, and one of the longest length is counted like any other',
  async (t) => {
    const policy = { 'Service-RateLimit-Policy': '1;w=60;s=user' };
    const before = provider.requests.length;
    const long = await gateway.chat(key, { ...policy, 'Service-User-Id': 'u'.repeat(10_240) });
    t.equal(long.status, 400);
    t.match(await long.json(), {
      error: {
        code: 'invalid_header',
        message: 'The header Service-User-Id is 10240 characters long; at most 1024 are allowed',
      },
    });
    t.equal(provider.requests.length, before);

    const own = await world.newKey();
    const longest = 'u'.repeat(1_023);
    const statuses = [];
    for (const user of [`${longest}a`, `${longest}b`, `${longest}a`]) {
      statuses.push((await readAll(await gateway.chat(own, { ...policy, 'Service-User-Id': user }))).status);
    }
    t.same(statuses, [200, 200, 429], 'two that differ in their last character are two');
  },
);

t.test('a property value of 10 KB is counted, and stored with at most 256 characters', async (t) => {
  const own = await world.newKey();
  const policy = { 'Service-RateLimit-Policy': '1;w=60;s=plan' };
  const long = 'p'.repeat(10_239);
  const statuses = [];
  for (const value of [`${long}a`, `${long}b`, `${long}a`]) {
    const answer = await gateway.chat(own, { ...policy, 'Service-Property-Plan': value });
    statuses.push((await readAll(answer)).status);
  }
  t.same(statuses, [200, 200, 429]);
  const [longest] = await world.sql`select max(length(value))::int as characters from assay.limit_counters`;
  t.ok(longest!.characters <= 256, 'a counter keeps no more than it shows');
});

t.test('user ids that look like code are counted like any other, and echoed in no header', async (t) => {
  const own = await world.newKey();
  const users = [
    "'; drop table assay.limit_counters; --",
    '%0d%0aService-RateLimit-Remaining: 999',
    '\\r\\nX: 1',
    '$1',
    '../../etc',
    '<script>',
    'user;w=60',
    '*',
  ];
  for (const user of users) {
    const answer = await gateway.chat(own, {
      'Service-RateLimit-Policy': '2;w=60;s=user',
      'Service-User-Id': user,
    });
    t.equal(answer.status, 200);
    t.equal(remainingOf(answer), 1, `${user} has a counter of its own`);
    t.notOk([...answer.headers].flat().some((text) => text.includes(user)));
    await answer.text();
  }
});

t.test('a limit in cents refuses a model without a known price, at any place of a list', async (t) => {
  const own = await world.newKey();
  const before = provider.requests.length;
  for (const model of ['openai/gpt-brand-new', 'gpt-4o-mini,openai/gpt-brand-new']) {
    const answer = await gateway.chat(
      own,
      { 'Service-RateLimit-Policy': '100;w=60;u=cents' },
      { ...CHAT, model },
    );
    t.equal(answer.status, 400);
    t.match(await answer.json(), {
      error: {
        code: 'invalid_rate_limit_policy',
        message:
          "The rate-limit policy counts cents, but the model 'gpt-brand-new' of openai has no known price",
      },
    });
    t.equal(provider.requests.length, before);
  }
});
