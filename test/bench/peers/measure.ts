/** One measurement: a scenario on a target, the CPU time that the target took for it, and its memory. */
import {
  busyTimes,
  peakResidentBytes,
  resetPeakBytes,
  shareOfOthers,
  treeCpuMicroseconds,
} from '../gateway/process.ts';
import type { Settled } from '../gateway/target.ts';
import { type LoadFigures, runLoad } from './load.ts';
import type { Scenario } from './scenario.ts';
import type { Target } from './target.ts';
import { touchMemory } from './touch-memory.ts';

export type Figures = LoadFigures & {
  /** Of the processes that calls pass through. NaN where there are none. */
  gatewayCpuMicrosecondsPerCall: number;
  /** Of everything that the target started, until its log has settled. */
  allCpuMicrosecondsPerCall: number;
  /** The most memory that the gateway's processes held: bytes. */
  peakBytes: number;
  /** Of the two cores, what programs took that are not part of the benchmark: from 0 to 1. NaN where it cannot be told. */
  shareOfOthers: number;
  /** Null where the log cannot be asked. `missing`: right answers whose records never came. */
  settled: (Settled & { missing: number }) | null;
};

/** Where the load generator is, and where it may write. */
export type Tools = { load: string; directory: string };

/**
 * Measures once, and returns when the target is quiet again.
 * @param recordsBefore in the target's log
 */
export async function measure(
  tools: Tools,
  target: Target,
  scenario: Scenario,
  seconds: number,
  recordsBefore: number,
): Promise<Figures> {
  const { rootPid } = target;
  touchMemory();
  for (const pid of target.gatewayPids()) resetPeakBytes(pid);
  const allCpu = () => (rootPid === null ? Number.NaN : treeCpuMicroseconds(rootPid));
  const busyBefore = busyTimes();
  const before = { gateway: target.gatewayCpu(), all: allCpu() };
  const found = await runLoad(tools.load, tools.directory, target, scenario, seconds);
  const gatewayCpu = target.gatewayCpu() - before.gateway;
  const others = shareOfOthers(busyBefore, busyTimes());
  const peakBytes = target.gatewayPids().reduce((sum, pid) => sum + peakResidentBytes(pid), 0);
  const expected = recordsBefore + found.calls;
  const settled = await target.settle(expected);
  return {
    ...found,
    gatewayCpuMicrosecondsPerCall: gatewayCpu / found.calls,
    allCpuMicrosecondsPerCall: (allCpu() - before.all) / found.calls,
    peakBytes: rootPid === null ? Number.NaN : peakBytes,
    shareOfOthers: others,
    settled: settled && { ...settled, missing: Math.max(0, expected - settled.records) },
  };
}
