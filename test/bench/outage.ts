/**
 * `npm run bench outage`: what callers and the gateway notice while Postgres, and then NATS, is down. Calls come at a
 * steady rate to one gateway, which forwards through a real nats-server to one ingest process; every role is a process of
 * its own.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres, migrate, type Sql } from '#platform/postgres/mod.ts';
import { startEmbeddedPostgres } from '../../supervisor/postgres/server.ts';
import { isReady, runMain, waitFor } from '../support/assay.ts';
import { freePort } from '../support/free-port.ts';
import { type NatsServer, startNats } from '../support/nats.ts';
import { type TcpProxy, tcpProxy } from '../support/tcp-proxy.ts';
import { chatRequestOf } from './gateway/payloads.ts';
import { endProcess, residentBytes, spawnNode } from './gateway/process.ts';
import { describeMachine } from './machine.ts';
import { formatTable, percentile } from './table.ts';

type Options = { seconds: number; rate: number };

const BODY_BYTES = 1_024;
const DRAIN_TIMEOUT_MS = 300_000;
const MIB = 1024 * 1024;

/** What is measured, and what it needs. */
type Stage = {
  gatewayUrl: string;
  gatewayPid: number;
  key: string;
  sql: Sql;
  postgres: TcpProxy;
  nats: NatsServer;
  stop(): Promise<void>;
};

async function startProvider(): Promise<{ port: number; stop(): Promise<void> }> {
  const script = fileURLToPath(new URL('gateway/provider-process.ts', import.meta.url));
  const child = spawnNode([script, String(BODY_BYTES)], { ipc: true });
  const port = await new Promise<number>((resolve) => child.once('message', (told) => resolve(Number(told))));
  return { port, stop: () => endProcess(child) };
}

async function setStage(): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'assay-bench-outage-'));
  const log = createLogger({ role: 'bench', level: 'error' });
  const server = await startEmbeddedPostgres({ dataDir: join(directory, 'postgres'), log });
  await migrate(server.url);
  const sql = connectPostgres({
    url: server.url,
    max: 2,
    applicationName: 'bench',
    statementTimeoutMs: 60_000,
  });
  const { organizationId } = await createOrganization(sql, { name: 'bench', tier: 'pro' });
  const { key } = await createKey(sql, { organizationId, scopes: ['gateway'], name: '' });
  const postgres = await tcpProxy(server.url);
  const nats = await startNats();
  const provider = await startProvider();
  const port = await freePort();
  const healthPort = await freePort();
  const environment = {
    DATABASE_URL: postgres.url,
    NATS_URL: nats.url,
    OPENAI_API_KEY: 'sk-benchmark',
    OPENAI_BASE_URL: `http://127.0.0.1:${provider.port}/v1`,
    LOG_LEVEL: 'error',
  };
  const gateway = runMain(['gateway'], {
    ...environment,
    DATA_DIR: join(directory, 'gateway'),
    GATEWAY_PORT: `${port}`,
  });
  const ingest = runMain(['ingest'], {
    ...environment,
    DATA_DIR: join(directory, 'ingest'),
    INGEST_PORT: `${healthPort}`,
  });
  const gatewayUrl = `http://127.0.0.1:${port}`;
  await waitFor('the gateway', () => isReady(gatewayUrl));
  await waitFor('ingest', () => isReady(`http://127.0.0.1:${healthPort}`));
  return {
    gatewayUrl,
    gatewayPid: gateway.process.pid!,
    key,
    sql,
    postgres,
    nats,
    stop: async () => {
      for (const run of [gateway, ingest]) {
        run.process.kill('SIGTERM');
        await run.ended;
      }
      await provider.stop();
      await nats[Symbol.asyncDispose]();
      await postgres.close();
      await sql.end({ timeout: 1 });
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** What callers saw of a phase. */
type Phase = { latencies: number[]; failed: number; residentMib: { before: number; highest: number } };

/** Makes calls at a steady rate, whether or not earlier ones have been answered. */
async function load(stage: Stage, { rate, seconds }: Options): Promise<Phase> {
  const body = chatRequestOf(BODY_BYTES, false);
  const headers = { authorization: `Bearer ${stage.key}`, 'content-type': 'application/json' };
  const latencies: number[] = [];
  let failed = 0;
  const call = async () => {
    const startedAt = performance.now();
    const answer = await fetch(`${stage.gatewayUrl}/v1/chat/completions`, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    if (answer.headers.get('service-logged') === 'false') throw new Error('An answer was not logged');
    if (answer.ok) latencies.push(performance.now() - startedAt);
    else failed += 1;
  };
  const resident = () => residentBytes(stage.gatewayPid) / MIB;
  const residentMib = { before: resident(), highest: resident() };
  const calls: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let number = 0; number < rate * seconds; number += 1) {
    await sleep(Math.max(0, startedAt + (number * 1_000) / rate - performance.now()));
    calls.push(
      call().catch(() => {
        failed += 1;
      }),
    );
    if (number % rate === 0) residentMib.highest = Math.max(residentMib.highest, resident());
  }
  await Promise.all(calls);
  return { latencies: latencies.toSorted((a, b) => a - b), failed, residentMib };
}

async function countStored(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from assay.requests`;
  return row!.count;
}

/** Waits until everything is stored. Returns what was missing at first, and how fast it came. */
async function drain(stage: Stage, expected: number): Promise<{ backlog: number; perSecond: number }> {
  const startedAt = performance.now();
  const backlog = expected - (await countStored(stage.sql));
  await waitFor(
    'the backlog to drain',
    async () => (await countStored(stage.sql)) >= expected,
    DRAIN_TIMEOUT_MS,
  );
  return { backlog, perSecond: (backlog / (performance.now() - startedAt)) * 1_000 };
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const options = new Command('bench outage')
    .description('What callers notice while Postgres or NATS is down, and how fast the backlog drains')
    .option('--seconds <number>', 'length of the quiet run and of each outage', Number, 60)
    .option('--rate <number>', 'calls a second', Number, 200)
    .parse(args, { from: 'user' })
    .opts<Options>();
  const stage = await setStage();
  const outages = [
    { name: 'quiet', begin: async () => {}, end: async () => {} },
    { name: 'Postgres down', begin: () => stage.postgres.cut(), end: () => stage.postgres.restore() },
    { name: 'NATS down', begin: () => stage.nats.kill(), end: () => stage.nats.restart() },
    {
      name: 'NATS emptied',
      begin: () => stage.nats.kill(),
      end: () => stage.nats.restart({ emptied: true }),
    },
  ];
  const rows: string[][] = [];
  try {
    await load(stage, { ...options, seconds: 5 });
    let answered = options.rate * 5;
    let quietP99 = Number.NaN;
    for (const { name, begin, end } of outages) {
      process.stderr.write(`${name}: ${options.rate} calls a second for ${options.seconds} s\n`);
      await begin();
      const phase = await load(stage, options);
      await end();
      answered += phase.latencies.length;
      const { backlog, perSecond } = await drain(stage, answered);
      const [p50, p99] = [0.5, 0.99].map((fraction) => percentile(phase.latencies, fraction));
      if (name === 'quiet') quietP99 = p99!;
      rows.push([
        name,
        String(phase.latencies.length),
        String(phase.failed),
        p50!.toFixed(2),
        p99!.toFixed(2),
        (p99! - quietP99).toFixed(2),
        `${phase.residentMib.before.toFixed(0)} → ${phase.residentMib.highest.toFixed(0)}`,
        String(backlog),
        name === 'quiet' ? '' : perSecond.toFixed(0),
      ]);
    }
    const [row] = await stage.sql<{ rows: number; ids: number }[]>`
      select count(*)::int as rows, count(distinct request_id)::int as ids from assay.requests`;
    const head = [
      '',
      'answered',
      'failed',
      'p50 ms',
      'p99 ms',
      'added p99',
      'gateway MiB',
      'behind',
      'drained/s',
    ];
    process.stdout.write(`\n${describeMachine()}\n\n${formatTable([head, ...rows])}\n\n`);
    process.stdout.write(
      `${answered} calls answered, ${row!.ids} records, ${row!.rows - row!.ids} of them twice\n`,
    );
  } finally {
    await stage.stop();
  }
}
