/** This gateway as an operator runs it: the supervisor with embedded Postgres, outbox and ingest; logging on. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Assay, startAssay } from '../../support/assay.ts';
import { giveWay, pin } from './process.ts';
import type { Settled, Target } from './target.ts';

const POLL_MS = 50;
/** A count takes longer with each record. It is repeated so seldom that it takes a twentieth of the time at most. */
const POLL_COST = 20;
/** No new record for this long, and the count is what it will be. */
const QUIET_MS = 15_000;

async function countRecords(assay: Assay): Promise<number> {
  const response = await fetch(`${assay.apiUrl}/v1/request/count/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${assay.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ filter: 'all' }),
  });
  const { data, error } = (await response.json()) as { data: number; error: string | null };
  if (error !== null) throw new Error(`Cannot count the records: ${error}`);
  return data;
}

export type Ours = Target & {
  pid: number;
  /** The supervisor, which has started everything else. */
  rootPid: number;
};

/** Waits until `expected` records are found. */
async function settle(assay: Assay, expected: number): Promise<Settled> {
  const startedAt = performance.now();
  let records = await countRecords(assay);
  const backlog = expected - records;
  let changedAt = startedAt;
  let pauseMs = Math.max(POLL_MS, POLL_COST * (performance.now() - startedAt));
  while (records < expected && performance.now() - changedAt < QUIET_MS) {
    await sleep(pauseMs);
    const askedAt = performance.now();
    const count = await countRecords(assay);
    pauseMs = Math.max(POLL_MS, POLL_COST * (performance.now() - askedAt));
    if (count !== records) changedAt = performance.now();
    records = count;
  }
  return { records, backlog, seconds: (performance.now() - startedAt) / 1_000 };
}

/** Starts everything, and moves the gateway process to its core. `checkout`: of another version, in that directory. */
export async function startOurs(providerPort: number, checkout?: string): Promise<Ours> {
  const assay = await startAssay({
    ...(checkout !== undefined && { checkout }),
    environment: { OPENAI_BASE_URL: `http://127.0.0.1:${providerPort}/v1`, OPENAI_API_KEY: 'sk-benchmark' },
  });
  const pid = assay.pidOf('gateway');
  pin(pid, 'gateway');
  await giveWay(assay.process.pid!, pid);
  return {
    name: 'ours',
    rootPid: assay.process.pid!,
    port: Number(new URL(assay.gatewayUrl).port),
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${assay.key}` },
    pid,
    settle: (calls) => settle(assay, calls),
    stop: async () => {
      await assay.stop();
    },
  };
}
