/**
 * Rolling restarts under load: two gateways on one port are replaced one after the other, again and again, and no
 * caller notices. No client here retries. Each restart is of both gateways. The long run, with more new connections a
 * second: `ASSAY_RESTARTS=100 ASSAY_KNOCK_EVERY_MS=1`.
 */
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import t from 'tap';
import { Agent, type Dispatcher, fetch as undiciFetch } from 'undici';
import { type Answered, chat, plainCall, recordedCalls, streamedCall } from '../../support/answered.ts';
import { type Assay, startAssay, waitFor } from '../../support/assay.ts';
import { seededRandom } from '../../support/random.ts';
import type { ScriptedProvider } from '../../support/scripted-provider.ts';
import { databaseFor, scriptedProvider } from '../../support/world.ts';

const RESTARTS = Number(process.env.ASSAY_RESTARTS ?? 3);
/** Callers that keep their connection, with a pause between calls that is shorter than a drain's patience with silence. */
const STEADY = 4;
const STREAMING = 6;
/** Callers that make a connection for each call. */
const FRESH = 3;
/** The same, for as little as can be asked: connections are what they are about. */
const KNOCKING = 8;
const PAUSE_MS = 200;
const FRESH_PAUSE_MS = 40;
const KNOCK_EVERY_MS = Number(process.env.ASSAY_KNOCK_EVERY_MS ?? 20);
const FINDABLE_WITHIN_MS = 30_000;

t.setTimeout(180_000 + RESTARTS * 60_000);

/** Streams take from a tenth of a second to one and a half: some are in the middle whenever a gateway is told to stop. */
function scriptStreams(provider: ScriptedProvider, random: () => number): void {
  provider.script(({ body }) => {
    if (!body.includes('"stream":true')) return { kind: 'answer' };
    const count = 2 + Math.floor(random() * 28);
    return {
      kind: 'stream',
      deltas: Array.from({ length: count }, (_, index) => `word${index} `),
      everyMs: 50,
    };
  });
}

/** The openai package, unmodified, on connections of its own. */
function clientOf(assay: Assay, dispatcher: Dispatcher): OpenAI {
  return new OpenAI({
    baseURL: `${assay.gatewayUrl}/v1`,
    apiKey: assay.key!,
    maxRetries: 0,
    fetch: ((url: string, init: object) => undiciFetch(url, { ...init, dispatcher })) as typeof fetch,
  });
}

/** A call over a connection that is made for it and ends with it. */
function callOverNewConnection(assay: Assay, user: string) {
  return new Promise<Answered>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${assay.key}`,
      'content-type': 'application/json',
      'service-user-id': user,
    };
    const options = { agent: false, method: 'POST', headers };
    const request = httpRequest(`${assay.gatewayUrl}/v1/chat/completions`, options, (response) => {
      const requestId = String(response.headers['service-request-id']);
      json(response)
        .then((body) => {
          if (response.statusCode !== 200) throw new Error(`Status ${response.statusCode}`);
          const { choices } = body as OpenAI.ChatCompletion;
          resolve({ user, requestId, text: choices[0]?.message.content ?? '' });
        })
        .catch(reject);
    });
    request.once('error', reject).end(JSON.stringify(chat(user)));
  });
}

/** Connects, asks for as little as can be asked, and reads to the end. */
function knock(assay: Assay) {
  return new Promise<void>((resolve, reject) => {
    const { hostname: host, port } = new URL(assay.gatewayUrl);
    let text = '';
    const socket = connect({ host, port: Number(port) }, () => {
      socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    });
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.once('error', reject).once('end', () => {
      if (text.startsWith('HTTP/1.1 200 ') && text.endsWith('{"status":"ok"}')) resolve();
      else reject(new Error(`Answered ${JSON.stringify(text)}`));
    });
  });
}

/** What the processes logged as an error. */
function errorsOf(assay: Assay): string[] {
  return assay
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{"level":50'));
}

type Load = {
  answered: Answered[];
  /** Streams among them. */
  streams: number;
  knocks: number;
  slowestKnockMs: number;
  /** What went wrong, in the client's words. */
  failures: string[];
};

function describe(error: unknown): string {
  const { message, cause } = error as Error;
  return cause === undefined ? message : `${message} (${describe(cause)})`;
}

/** Loads the gateways until told to stop; resolves when the last call is through. */
async function loadUntil(signal: AbortSignal, assay: Assay, random: () => number, load: Load): Promise<void> {
  const agents: Agent[] = [];
  async function repeat(name: string, work: (user: string) => Promise<void>): Promise<void> {
    for (let index = 0; !signal.aborted; index += 1) {
      await work(`${name}-${index}`).catch((error: unknown) => {
        load.failures.push(`${name}-${index}: ${describe(error)}`);
      });
    }
  }
  const callers = (count: number, name: string, make: (index: number) => (user: string) => Promise<void>) =>
    Array.from({ length: count }, (_, index) => repeat(`${name}${index}`, make(index)));
  const ownClient = () => {
    const agent = new Agent({ connections: 1 });
    agents.push(agent);
    return clientOf(assay, agent);
  };
  const steady = callers(STEADY, 'steady', () => {
    const client = ownClient();
    return async (user) => {
      load.answered.push(await plainCall(client, user));
      await sleep(random() * PAUSE_MS);
    };
  });
  const streaming = callers(STREAMING, 'streaming', () => {
    const client = ownClient();
    return async (user) => {
      load.answered.push(await streamedCall(client, user));
      load.streams += 1;
    };
  });
  const fresh = callers(FRESH, 'fresh', () => async (user) => {
    load.answered.push(await callOverNewConnection(assay, user));
    await sleep(random() * FRESH_PAUSE_MS);
  });
  const knocking = callers(KNOCKING, 'knocking', () => async () => {
    const startedAt = performance.now();
    await knock(assay);
    load.knocks += 1;
    load.slowestKnockMs = Math.max(load.slowestKnockMs, performance.now() - startedAt);
    await sleep(KNOCK_EVERY_MS);
  });
  await Promise.all([...steady, ...streaming, ...fresh, ...knocking]);
  await Promise.all(agents.map((agent) => agent.close()));
}

t.test(`${RESTARTS} rolling restarts fail no call, cut no stream, and lose no record`, async (t) => {
  const seed = Number(process.env.ASSAY_SEED ?? Date.now() % 1_000_000);
  t.comment(`ASSAY_SEED=${seed}`);
  const random = seededRandom(seed);
  const database = await databaseFor(t);
  const provider = await scriptedProvider(t);
  scriptStreams(provider, random);
  const assay = await startAssay({
    environment: {
      DATABASE_URL: database.url,
      GATEWAYS: '2',
      OPENAI_BASE_URL: provider.url,
      OPENAI_API_KEY: 'sk-test',
    },
  });
  t.teardown(() => assay.stop());
  const load: Load = { answered: [], streams: 0, knocks: 0, slowestKnockMs: 0, failures: [] };
  const stop = new AbortController();
  const loaded = loadUntil(stop.signal, assay, random, load);

  const startedAt = performance.now();
  const restarts = () => assay.stderr().split('"Restarted the gateways"').length - 1;
  let fruitful = 0;
  for (let round = 1; round <= RESTARTS; round += 1) {
    const { streams, answered } = load;
    const before = { streams, answered: answered.length };
    assay.process.kill('SIGUSR2');
    await waitFor(`restart ${round}`, () => restarts() === round, 60_000);
    if (load.streams > before.streams && answered.length > before.answered) fruitful += 1;
    // What the provider was asked is of no interest here, and would fill the memory.
    provider.requests.length = 0;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  stop.abort();
  await loaded;
  const { answered, streams, knocks, failures } = load;
  t.comment(
    `${RESTARTS} restarts in ${Math.round(seconds)} s: ${answered.length} calls, ${streams} of them streams; ` +
      `${knocks} knocks, ${Math.round(knocks / seconds)} a second, the slowest ${Math.round(load.slowestKnockMs)} ms`,
  );
  t.same(failures, [], 'no call failed and no stream was cut');
  t.equal(fruitful, RESTARTS, 'each restart came under load');
  t.same(errorsOf(assay), [], 'each gateway stopped by itself, and nothing else went wrong');

  const recorded = async () => Map.groupBy(await recordedCalls(database), (record) => record.user_id);
  await waitFor(
    'all records',
    async () => (await recorded()).size >= answered.length,
    FINDABLE_WITHIN_MS,
  ).catch(() => {});
  const byUser = await recorded();
  const wrong = answered.filter(({ user, requestId, text }) => {
    const records = byUser.get(user) ?? [];
    return records.length !== 1 || records[0]!.request_id !== requestId || records[0]!.text !== text;
  });
  t.same(wrong, [], 'each call is recorded once, as it was answered');
  t.equal(byUser.size, answered.length, 'and nothing else');
  t.same(await database.sql`select reason from assay.dead_letters`, [], 'nothing was set aside');
  t.same(await assay.stop(), { code: 0, signal: null });
});
