/** Requests that come in while metrics are asked for, and the sinks that roll them up: how far behind, and at which cost. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Call } from '../calls.ts';
import type { Cluster } from '../cluster.ts';
import { cpuMicroseconds, postmasterOf, treeCpuMicroseconds } from '../gateway/process.ts';
import { startHelper } from '../helper.ts';
import { startIncoming } from '../incoming.ts';
import { formatTable, percentile } from '../table.ts';
import { type Lags, watchFreshness } from './freshness.ts';

type MeanwhileOptions = {
  cluster: Cluster;
  organizationId: string;
  call: Call;
  /** A connection as the owner, and one as the API's role that is free. */
  owner: Sql;
  reader: Sql;
  perSecond: number;
  /** Requests come in for so long at least. */
  leastMs: number;
};

/** Runs `work` while requests come in. Returns a report. */
export async function measureMeanwhile(
  options: MeanwhileOptions,
  work: () => Promise<void>,
): Promise<string> {
  const { cluster, organizationId, call, owner, reader, perSecond, leastMs } = options;
  const { url, dataDir } = cluster;
  const postmaster = postmasterOf(dataDir);
  const script = new URL('./sinks-process.ts', import.meta.url);
  await using sinks = await startHelper<void>(script, [url, dataDir]);
  const backends = new SinkBackends(owner);
  await using freshness = await watchFreshness({
    call,
    owner,
    reader,
    organizationId,
    onLook: () => backends.look(),
  });
  await using incoming = await startIncoming({ url, organizationId, perSecond }, freshness.note);
  const readCpu = () => ({
    'process of the sinks': cpuMicroseconds(sinks.pid),
    PostgreSQL: treeCpuMicroseconds(postmaster),
    '  of it, connections of the sinks': backends.microseconds,
  });
  await backends.look();
  const [startedAt, cpuBefore] = [performance.now(), readCpu()];
  await work();
  await sleep(Math.max(0, startedAt + leastMs - performance.now()));
  const stored = await incoming.stop();
  const lags = await freshness.stop();
  await backends.look();
  const cpuAfter = readCpu();
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = Object.entries(cpuBefore).map(([name, before]): [string, number] => [
    name,
    (cpuAfter[name as keyof typeof cpuBefore] - before) / 1e6,
  ]);
  return `Meanwhile ingest stored ${stored} requests a second for ${seconds.toFixed(0)} s\n\n${lagTable(lags)}\n\n${cpuTable(cpu, seconds)}`;
}

/** What the sinks' connections use of the CPU, as far as it is looked at before they end. */
class SinkBackends {
  readonly #owner: Sql;
  readonly #used = new Map<number, number>();

  constructor(owner: Sql) {
    this.#owner = owner;
  }

  async look(): Promise<void> {
    const backends = await this.#owner<{ pid: number }[]>`
      select pid from pg_stat_activity where application_name = 'assay-sinks'`;
    for (const { pid } of backends) {
      const used = cpuMicroseconds(pid);
      if (!Number.isNaN(used)) this.#used.set(pid, used);
    }
  }

  get microseconds(): number {
    return [...this.#used.values()].reduce((sum, used) => sum + used, 0);
  }
}

function lagTable(lags: Lags): string {
  const rows = [...lags].map(([name, values]) => {
    const sorted = values.toSorted((left, right) => left - right);
    const figures = [0.5, 0.99, 1].map((fraction) => percentile(sorted, fraction).toFixed(0));
    return [name, ...figures, String(sorted.length)];
  });
  return formatTable([['milliseconds behind', 'p50', 'p99', 'max', 'looks'], ...rows]);
}

function cpuTable(cpu: readonly [name: string, seconds: number][], seconds: number): string {
  const rows = cpu.map(([name, used]) => [name, used.toFixed(1), ((100 * used) / seconds).toFixed(1)]);
  return formatTable([['CPU, queries included', 'seconds', '% of a core'], ...rows]);
}
