/** A storm over webhooks: events come, while the receiver and the processes that send are killed at random. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { DeliveryAttempt } from '#core/contracts/webhook.ts';
import { noteChange } from '#platform/changes/mod.ts';
import { startTestApi } from './api.ts';
import { waitFor } from './assay.ts';
import { insertRequests } from './seed-requests.ts';
import { tether } from './tether.ts';
import { startReceiver, verify } from './webhook-receiver.ts';
import type { SenderParameters } from './webhook-sender.ts';
import type { Owner } from './world.ts';

const SENDER = fileURLToPath(new URL('./webhook-sender.ts', import.meta.url));
/** As many attempts as a delivery remembers. */
const WAITS_MS = [0, 50, 100, 200, 300, 400, ...Array<number>(14).fill(500)];
const TIMEOUT_MS = 3_000;
const LEASE_MS = 6_000;
const SENDERS = 2;
const REFUSED_SHARE = 0.1;
const EVENTS_AT_ONCE = 50;
/** Times of attempts are whole milliseconds. */
const ROUNDING_MS = 2;

export type Storm = {
  events: number;
  kills: number;
  /** Times that the receiver was away. */
  absences: number;
  /** Requests that no message with a valid signature came of, or whose delivery is not delivered. */
  lost: string[];
  /** Attempts that were made before they were due. */
  early: number;
  /** How much later than due attempts were made, in milliseconds. */
  lateMs: number[];
  attempts: number;
  /** Messages that came after one that the receiver had taken. */
  repeated: number;
  /** Messages whose signature the library of the standard refuses. */
  unverified: number;
  /** From the first event to the last delivery. */
  tookMs: number;
};

export type StormOptions = { events: number; kills: number; absences: number; log?(line: string): void };

/** Runs one until every delivery has ended. */
export async function runWebhookStorm(owner: Owner, options: StormOptions): Promise<Storm> {
  const secretKey = Buffer.alloc(32, 7).toString('base64');
  const environment = { SECRET_KEY: secretKey, OUTBOUND_ALLOW: '127.0.0.1' };
  const api = await startTestApi(owner, { environment });
  const { sql, url: databaseUrl } = api.database;
  const receiver = await startReceiver(owner);
  const taken = new Set<string>();
  let repeated = 0;
  receiver.answer = (response, { id }) => {
    if (Math.random() < REFUSED_SHARE) {
      response.writeHead(500).end();
      return;
    }
    if (taken.has(id)) repeated += 1;
    taken.add(id);
    response.writeHead(204).end();
  };
  const made = await api.call('/v1/webhook', { body: { url: receiver.url, events: ['request.logged'] } });
  const { id: webhookId, secret } = made.body.data as { id: string; secret: string };

  const parameters: SenderParameters = {
    databaseUrl,
    secretKey,
    waitsMs: WAITS_MS,
    timeoutMs: TIMEOUT_MS,
    leaseMs: LEASE_MS,
  };
  const senders = new Set<{ kill(): void; ended: Promise<unknown> }>();
  owner.teardown(async () => {
    for (const one of senders) one.kill();
    await Promise.all([...senders].map(({ ended }) => ended));
  });
  const startSender = async () => {
    const node = ['--disable-warning=ExperimentalWarning', SENDER, JSON.stringify(parameters)];
    const child = spawn(process.execPath, node, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    tether({ pid: child.pid, ended, signal: 'KILL' });
    const sender = { kill: () => void child.kill('SIGKILL'), ended };
    senders.add(sender);
    void ended.then(() => senders.delete(sender));
    await once(child.stdout, 'data');
    return sender;
  };

  let kills = 0;
  const killing = async () => {
    while (kills < options.kills) {
      const sender = await startSender();
      await sleep(200 + Math.random() * 800);
      sender.kill();
      await sender.ended;
      kills += 1;
      if (kills % 20 === 0) options.log?.(`${kills} processes were killed`);
    }
    await startSender();
  };
  let absences = 0;
  const vanishing = async () => {
    for (; absences < options.absences; absences += 1) {
      await sleep(200 + Math.random() * 600);
      await receiver.stop();
      await sleep(100 + Math.random() * 400);
      await receiver.start();
    }
  };
  // A sink that is new takes up the feed where it stands.
  const first = await startSender();
  await waitFor(
    'the sink',
    async () => (await sql`select from assay.sinks where state = 'running'`).length === 1,
  );
  first.kill();
  await first.ended;
  const began = performance.now();
  const requestIds: string[] = [];
  const { organizationId } = api.own;
  const logging = async () => {
    while (requestIds.length < options.events) {
      const count = Math.min(EVENTS_AT_ONCE, options.events - requestIds.length);
      const stored = await insertRequests(
        sql,
        organizationId,
        Array.from({ length: count }, () => ({})),
      );
      const keys = stored.map(({ created_at: createdAt, request_id: requestId }) => ({
        createdAt,
        requestId,
      }));
      await sql.begin((tx) => noteChange(tx, { organizationId, kind: 'record', keys }));
      requestIds.push(...keys.map(({ requestId }) => requestId));
    }
  };
  await Promise.all([logging(), vanishing(), ...Array.from({ length: SENDERS }, killing)]);
  for (let left = options.events; left > 0; await sleep(50)) {
    const [row] = await sql<{ ended: number }[]>`
      select count(*)::int4 as ended from assay.webhook_deliveries
       where webhook_id = ${webhookId} and state not in ('pending', 'sending')`;
    left = options.events - row!.ended;
  }
  const tookMs = performance.now() - began;

  let unverified = 0;
  const verified = new Set<string>();
  for (const message of receiver.received) {
    try {
      verify(secret, message);
      verified.add((message.body.data.request as { request_id: string }).request_id);
    } catch {
      unverified += 1;
    }
  }
  const rows = await sql<{ requestId: string; state: string; tries: DeliveryAttempt[] }[]>`
    select request_id as "requestId", state, tries from assay.webhook_deliveries where webhook_id = ${webhookId}`;
  const delivered = new Set(
    rows.filter(({ state }) => state === 'delivered').map(({ requestId }) => requestId),
  );
  const lateMs = rows.flatMap(({ tries }) => latenesses(tries)).sort((a, b) => a - b);
  return {
    events: options.events,
    kills,
    absences,
    lost: requestIds.filter((id) => !verified.has(id) || !delivered.has(id)),
    early: lateMs.filter((late) => late < -ROUNDING_MS).length,
    lateMs,
    attempts: rows.reduce((sum, { tries }) => sum + tries.length, 0),
    repeated,
    unverified,
    tookMs,
  };
}

/** Returns how much later than due each attempt but the first was made. */
function latenesses(tries: readonly DeliveryAttempt[]): number[] {
  return tries.slice(1).map(({ at }, index) => {
    const before = tries[index]!;
    const dueMs = Date.parse(before.at) + before.duration_ms + WAITS_MS[index + 1]!;
    return Date.parse(at) - dueMs;
  });
}
