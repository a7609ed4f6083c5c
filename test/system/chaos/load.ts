/** The clients of a run: so many connections, each with one call under way, to whichever gateway answers. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { newRequestId } from '#platform/process/ids.ts';
import { seededRandom } from '../../support/random.ts';
import { type CallResult, callChat, type Line } from './call.ts';
import type { Ledger } from './ledger.ts';
import { logCall } from './log-call.ts';
import type { Service } from './service.ts';
import { quickWish, slowWish, type Wish } from './wish.ts';

export type LoadOptions = {
  gateways: readonly Service[];
  api: Service;
  key: string;
  connections: number;
  /** Calls begun a second, while there is nothing to wait for; slow streams and the API's are not counted. */
  perSecond: number;
  seed: number;
  ledger: Ledger;
  /** Milliseconds since the run's beginning. */
  now(): number;
};

/** Every so many connections is one for slow streams. */
const SLOW_EVERY = 4;
/** What one more connection logs through the API. */
const LOG_EVERY_MS = 50;
const LOGGED_WORDS = 20;
/** For so long a client stays away from a process that failed it. */
const AVOID_MS = 500;
/** How far a connection that was held up may run after its schedule. */
const MOST_BEHIND_MS = 1_000;

type Client = {
  seed: number;
  /** Whom it calls: the first, or when that one fails, the next; for new calls only. */
  servers: readonly Service[];
  everyMs: number;
  make(line: Line, call: number, random: () => number): { isStream: boolean; result: Promise<CallResult> };
};

function chats(choose: (random: () => number) => Wish): Client['make'] {
  return (line, call, random) => {
    const wish = choose(random);
    const requestId = wish.choosesId ? newRequestId() : null;
    return { isStream: wish.isStream, result: callChat(line, call, wish, requestId) };
  };
}

/** Makes calls until `signal`, and resolves when the last one is over. */
export async function runLoad(options: LoadOptions, signal: AbortSignal): Promise<void> {
  const { gateways, api, connections, perSecond, seed } = options;
  const slow = Math.floor(connections / SLOW_EVERY);
  const quick = connections - slow;
  const clients = Array.from({ length: connections }, (_, index): Client => {
    const home = index % gateways.length;
    return {
      seed: seed + index,
      servers: [...gateways.slice(home), ...gateways.slice(0, home)],
      everyMs: index < quick ? (1_000 * quick) / perSecond : 0,
      make: chats(index < quick ? quickWish : slowWish),
    };
  });
  clients.push({
    seed: seed + connections,
    servers: [api],
    everyMs: LOG_EVERY_MS,
    make: (line, call) => ({ isStream: false, result: logCall(line, call, LOGGED_WORDS) }),
  });
  let last = 0;
  const nextCall = () => {
    last += 1;
    return last;
  };
  await Promise.all(clients.map((client) => keepCalling(options, client, nextCall, signal)));
}

async function keepCalling(
  { key, ledger, now }: LoadOptions,
  { seed, servers, everyMs, make }: Client,
  nextCall: () => number,
  signal: AbortSignal,
): Promise<void> {
  const random = seededRandom(seed);
  const doors = servers.map((server) => ({
    server,
    agent: new Agent({ keepAlive: true, maxSockets: 1 }),
    avoidUntilMs: 0,
  }));
  let dueMs = now() + random() * everyMs;
  while (!signal.aborted) {
    await sleep(Math.max(0, dueMs - now()));
    const door = doors.find(({ avoidUntilMs }) => avoidUntilMs <= now());
    if (door === undefined) {
      await sleep(AVOID_MS / 10);
      continue;
    }
    dueMs = Math.max(dueMs + everyMs, now() - MOST_BEHIND_MS);
    const { name, url, life } = door.server;
    const call = nextCall();
    const startedMs = now();
    const { isStream, result } = make({ url, agent: door.agent, key }, call, random);
    const known = await result;
    ledger.add({ ...known, call, server: name, life, isStream, startedMs, endedMs: now() });
    if (known.end === 'lost' || known.end === 'refused') door.avoidUntilMs = now() + AVOID_MS;
  }
  for (const { agent } of doors) agent.destroy();
}
