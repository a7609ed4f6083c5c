/**
 * A run: everything is brought up, loaded, and hurt by plan; then it is left to recover, and what clients and provider
 * saw is compared with what is stored.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { digest } from './call.ts';
import { FaultRunner } from './carry-out.ts';
import { drained, outboxesOf } from './drain.ts';
import { type Fault, planFaults } from './faults.ts';
import { followFeed } from './feed.ts';
import { Ledger } from './ledger.ts';
import { runLoad } from './load.ts';
import { makeReport, type Report } from './report.ts';
import { compareRollups } from './rollups.ts';
import type { Service } from './service.ts';
import { countParts, countRecords, deadLetterReasons, readReached, readRecords } from './store.ts';
import { judge } from './verdict.ts';
import { startWorld, type World } from './world.ts';

export type RunOptions = {
  minutes: number;
  /** Of the faults, and of what is asked for. */
  seed: number;
  connections: number;
  /** Calls begun a second, while both gateways serve. */
  perSecond: number;
  /** Longest time for the log entries that are on their way at the end of the load to be stored. */
  drainWithinMs: number;
  /** The run's files stay, however it ends. */
  keep: boolean;
  /** Told once a second. */
  onProgress(progress: Progress): void;
  /** Ends the run early, without a verdict. */
  signal: AbortSignal;
};

export type Progress = {
  phase: 'load' | 'drain' | 'compare';
  elapsedMs: number;
  answered: number;
  stored: number;
  /** Faults so far. */
  faults: number;
  active: Fault[];
};

const START_WITHIN_MS = 60_000;
const TELL_EVERY_MS = 1_000;
/** Counting records takes the longer the more there are: at most this part of the time goes into it. */
const COUNTING_SHARE = 0.05;

/**
 * Runs once.
 * @throws Error when the run could not be made, which says nothing about the services
 */
export async function runChaos(options: RunOptions): Promise<Report> {
  const world = await startWorld();
  let { keep } = options;
  try {
    const report = await runIn(world, options);
    keep ||= report.failures.length > 0;
    return { ...report, directory: keep ? world.directory : null };
  } finally {
    await world.dispose({ keep });
  }
}

/** Counts records, over and over, for the progress. */
class StoredCount {
  value = 0;

  async keepCounting(world: World, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedAt = performance.now();
      this.value = await countRecords(world.sql).catch(() => this.value);
      const tookMs = performance.now() - startedAt;
      await sleep(TELL_EVERY_MS + tookMs / COUNTING_SHARE, undefined, { signal }).catch(() => {});
    }
  }
}

async function runIn(world: World, options: RunOptions): Promise<Omit<Report, 'directory'>> {
  const { minutes, seed, signal } = options;
  const { services, api } = world;
  const gateways = Object.values(world.gateways).map(({ service }) => service);
  await allComeUp(services);

  const durationMs = minutes * 60_000;
  const startedAt = performance.now();
  const now = () => performance.now() - startedAt;
  const ledger = new Ledger(join(world.directory, 'calls.jsonl'));
  const faults = new FaultRunner(world, now);
  const stored = new StoredCount();
  const feed = await followFeed(world.postgres.url, world.sql);
  const over = new AbortController();
  const counting = stored.keepCounting(world, over.signal);
  let phase: Progress['phase'] = 'load';
  const telling = setInterval(() => {
    options.onProgress({
      phase,
      elapsedMs: now(),
      answered: ledger.counts.answered,
      stored: stored.value,
      faults: faults.notes.length,
      active: faults.active,
    });
  }, TELL_EVERY_MS);

  try {
    // 1. Load, and faults by plan.
    const enough = AbortSignal.any([signal, AbortSignal.timeout(durationMs)]);
    const load = { ...options, gateways, api, key: world.key, ledger, now };
    await Promise.all([runLoad(load, enough), faults.run(planFaults(seed, durationMs), signal)]);
    signal.throwIfAborted();
    const loadMs = now();
    ledger.flush();
    // 2. Recovery: what was logged arrives.
    phase = 'drain';
    await allComeUp(services);
    const backlog = (await countLogged(world, ledger)) - (await countRecords(world.sql));
    const drain = await drained(world, options.drainWithinMs);
    // 3. An end in the supervisor's order: who makes log entries hands over what it has before ingest stops.
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await api.stop();
    const left = await Promise.all(Object.values(world.gateways).map(outboxesOf));
    await Promise.all(world.ingests.map((ingest) => ingest.stop()));
    // 4. Verdict.
    phase = 'compare';
    const feedProblems = await feed.finish(options.drainWithinMs);
    const rollupProblems = await compareRollups(world.sql);
    const verdict = judge({
      notes: ledger.notes,
      records: await readRecords(world.sql),
      reached: await readReached(world.reachedPath),
      fills: faults.fills,
      emptyDigest: digest('{}'),
    });
    writeFileSync(join(world.directory, 'faults.json'), JSON.stringify(faults.notes, null, 1));
    return makeReport({
      options,
      loadMs,
      calls: ledger.counts,
      faults: faults.notes,
      disks: Object.entries(world.gateways).map(([name, { disk }]) => `${name}: ${disk.how}`),
      backlog,
      drain,
      leftOutboxes: left.flat(),
      services,
      deadLetters: await deadLetterReasons(world.sql),
      parts: await countParts(world.sql),
      feedProblems,
      rollupProblems,
      verdict,
    });
  } finally {
    clearInterval(telling);
    over.abort();
    await counting;
    await feed.stop();
  }
}

/** The calls that should have a record, unless a disk was full. */
async function countLogged(world: World, ledger: Ledger): Promise<number> {
  const reached = new Set(await readReached(world.reachedPath));
  const ofApi = ledger.notes.filter(({ server, end }) => server === world.api.name && end === 'answered');
  return reached.size + ofApi.length;
}

async function allComeUp(services: readonly Service[]): Promise<void> {
  for (const service of services) {
    if (await service.comesUp(START_WITHIN_MS)) continue;
    throw new Error(`${service.name} does not come up: ${service.lastWords()}`);
  }
}
