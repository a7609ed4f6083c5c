/** The same at full size, through everything as it runs: as many calls at once for one answer as a gateway may ever see. */
import { execFileSync } from 'node:child_process';
import { Agent, type IncomingMessage, request } from 'node:http';
import t from 'tap';
import { type Assay, startAssay, waitFor } from '../../../support/assay.ts';
import { scriptedProvider } from '../../../support/world.ts';
import { CHAT } from '../limits/world.ts';

const MANY = 10_000;
/** Connections are made so many at a time: the queue of those that wait to be taken is shorter. */
const CONNECTED_AT_ONCE = 500;
/** Every call is a connection here and one in the gateway. */
const FILES = MANY + 1_000;

function openFiles(): number {
  const limit = execFileSync('/bin/sh', ['-c', 'ulimit -H -n'], { encoding: 'utf8' }).trim();
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
}

const skip = openFiles() < FILES && `a process may open ${openFiles()} files here, which is too few`;

type Given = { status: number; text: string; id: string; cache: string };

async function readAll(answer: IncomingMessage): Promise<Given> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const header = (name: string) => String(answer.headers[name]);
  return {
    status: answer.statusCode!,
    text: Buffer.concat(chunks).toString(),
    id: header('service-request-id'),
    cache: header('service-cache'),
  };
}

/** One call on a connection of its own; `onConnected` when it is sent. */
function call(assay: Assay, body: Buffer, agent: Agent, onConnected: () => void): Promise<Given> {
  return new Promise((resolve, reject) => {
    const sent = request(`${assay.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${assay.key}`,
        'content-type': 'application/json',
        'content-length': body.length,
        'service-cache-enabled': 'true',
        'service-cache-coalesce': 'true',
      },
    });
    sent.once('response', (answer) => readAll(answer).then(resolve, reject));
    sent.once('socket', (socket) => socket.once('connect', onConnected));
    sent.once('error', reject);
    sent.end(body);
  });
}

async function callMany(assay: Assay, body: Buffer): Promise<Given[]> {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const calls: Promise<Given>[] = [];
  while (calls.length < MANY) {
    const connected = Array.from({ length: Math.min(CONNECTED_AT_ONCE, MANY - calls.length) }, () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const made = call(assay, body, agent, resolve);
      calls.push(made);
      return Promise.race([promise, made]);
    });
    await Promise.all(connected);
  }
  return Promise.all(calls);
}

async function countRecords(assay: Assay, filter: unknown): Promise<number> {
  const answer = await fetch(`${assay.apiUrl}/v1/request/count/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${assay.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ filter }),
  });
  return ((await answer.json()) as { data: number }).data;
}

t.test(`${MANY} identical concurrent calls make one provider request`, { skip }, async (t) => {
  const provider = await scriptedProvider(t);
  const assay = await startAssay({
    environment: { OPENAI_API_KEY: 'sk-operator', OPENAI_BASE_URL: provider.url },
  });
  t.teardown(() => assay.stop());
  // No call is answered before all have been sent.
  const misses = async () => {
    const metrics = await (await fetch(`${assay.gatewayUrl}/metrics`)).text();
    return Number(/^assay_cache_misses_total(?:\{[^}]*\})? (\d+)$/m.exec(metrics)?.[1] ?? 0);
  };
  let allAskedAt = 0;
  provider.script(async () => {
    await waitFor('all to have asked', async () => (await misses()) >= MANY, 120_000);
    allAskedAt = performance.now();
    return { kind: 'answer' };
  });
  const body = Buffer.from(JSON.stringify({ ...CHAT, messages: [{ role: 'user', content: 'The same' }] }));
  const beganAt = performance.now();
  const given = await callMany(assay, body);
  const answeredAt = performance.now();

  t.equal(provider.requests.length, 1);
  t.ok(given.every(({ status }) => status === 200));
  t.equal(new Set(given.map(({ text }) => text)).size, 1, 'all got the same');
  t.match(JSON.parse(given[0]!.text), { object: 'chat.completion', choices: [{ finish_reason: 'stop' }] });
  t.equal(given.filter(({ cache }) => cache === 'MISS').length, 1);
  t.equal(given.filter(({ cache }) => cache === 'HIT').length, MANY - 1);
  t.equal(new Set(given.map(({ id }) => id)).size, MANY, 'each is a request of its own');
  await waitFor(`${MANY} records`, async () => (await countRecords(assay, 'all')) >= MANY, 60_000);
  t.equal(await countRecords(assay, 'all'), MANY);
  const seconds = (from: number, to: number) => `${((to - from) / 1_000).toFixed(1)} s`;
  t.comment(
    `asked in ${seconds(beganAt, allAskedAt)}, answered ${seconds(allAskedAt, answeredAt)} later, found after another ${seconds(answeredAt, performance.now())}`,
  );
});
