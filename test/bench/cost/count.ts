/** Counts what calls cost the gateway process: of each figure the median of three counts. */
import { median } from '../table.ts';
import { type Allocated, countAllocations, sweepInCollectionsOnly } from './allocations.ts';
import { type ByTheClock, countByTheClock, timed } from './by-the-clock.ts';
import { type CostScenario, SCENARIOS } from './scenarios.ts';
import { type Subject, startSubject } from './subject.ts';
import { countSystemCalls } from './system-calls.ts';

/** The cost of a call. */
export type Cost = {
  heapBytes: number;
  externalBytes: number;
  /** Null: not counted. */
  systemCalls: number | null;
};
/** By the name of the scenario. */
export type Costs = Record<string, Cost>;

export type CountOptions = {
  countsSystemCalls: boolean;
  /** Is told what is done, and each count. */
  onProgress?: (line: string) => void;
};

type Report = (line: string) => void;

const COUNTS = 3;
/**
 * Calls of each scenario before the first count. As the compiler sees more of them a call allocates less; after so many the
 * rest of that is below 2 %.
 */
const WARM_UP_CALLS = 1_600;
const WARM_UP_CONNECTIONS = 16;
/**
 * A paced stream has a piece of work for each event, so fewer calls do; 48, the calls of one count, left 3 % on a busy machine.
 * With so many connections they take four seconds.
 */
const PACED_WARM_UP_CALLS = 768;
const PACED_WARM_UP_CONNECTIONS = 128;
/** The system calls that are reported by name. */
const NAMES_REPORTED = 5;

/** Starts everything, counts, and stops everything. */
export async function countCosts({ countsSystemCalls, onProgress = () => {} }: CountOptions): Promise<Costs> {
  await using subject = await startSubject();
  await sweepInCollectionsOnly(subject.inspector);
  for (const scenario of SCENARIOS) await warmUp(subject, scenario, onProgress);
  const byTheClock = await countByTheClock(subject, countsSystemCalls);
  const { heap, external } = byTheClock.allocated;
  onProgress(
    `by the clock: ${Math.round(heap)} bytes a ms on the heap, ${Math.round(external)} of ArrayBuffers`,
  );
  const costs: Costs = {};
  for (const scenario of SCENARIOS) {
    const allocated = await allocations(subject, scenario, byTheClock, onProgress);
    costs[scenario.name] = { ...allocated, systemCalls: null };
  }
  for (const scenario of countsSystemCalls ? SCENARIOS : []) {
    costs[scenario.name]!.systemCalls = await systemCalls(subject, scenario, byTheClock, onProgress);
  }
  return costs;
}

/** Makes calls until what one allocates hardly falls any more. */
async function warmUp(subject: Subject, scenario: CostScenario, report: Report): Promise<void> {
  const isPaced = (scenario.everyMs ?? 0) > 0;
  const [calls, connections] = isPaced
    ? [PACED_WARM_UP_CALLS, PACED_WARM_UP_CONNECTIONS]
    : [WARM_UP_CALLS, WARM_UP_CONNECTIONS];
  report(`${scenario.name}: ${calls} calls to warm up`);
  await subject.makeCalls({ ...scenario, calls, connections });
}

async function allocations(
  subject: Subject,
  scenario: CostScenario,
  byTheClock: ByTheClock,
  report: Report,
): Promise<Pick<Cost, 'heapBytes' | 'externalBytes'>> {
  const counts = [];
  for (let count = 1; count <= COUNTS; count += 1) {
    let ms = 0;
    const allocated = await countAllocations(subject.inspector, async () => {
      ms = await timed(() => subject.makeCalls(scenario));
    });
    const ofACall = (kind: keyof Allocated) =>
      Math.round((allocated[kind] - byTheClock.allocated[kind] * ms) / scenario.calls);
    const [heap, external] = [ofACall('heap'), ofACall('external')];
    report(`${scenario.name}: ${heap} bytes a call on the heap, ${external} of ArrayBuffers`);
    counts.push({ heap, external });
  }
  return {
    heapBytes: median(counts.map(({ heap }) => heap)),
    externalBytes: median(counts.map(({ external }) => external)),
  };
}

async function systemCalls(
  subject: Subject,
  scenario: CostScenario,
  byTheClock: ByTheClock,
  report: Report,
): Promise<number> {
  const counts = [];
  for (let count = 1; count <= COUNTS; count += 1) {
    let ms = 0;
    const counted = await countSystemCalls(subject.pid, async () => {
      ms = await timed(() => subject.makeCalls(scenario));
    });
    const ofACall = [...counted]
      .map(([name, calls]) => {
        const others = (byTheClock.systemCalls.get(name) ?? 0) * ms;
        return { name, calls: Math.max(0, calls - others) / scenario.calls };
      })
      .sort((a, b) => b.calls - a.calls);
    const sum = ofACall.reduce((sum, { calls }) => sum + calls, 0);
    const most = ofACall.slice(0, NAMES_REPORTED).map(({ name, calls }) => `${name} ${calls.toFixed(2)}`);
    report(`${scenario.name}: ${sum.toFixed(2)} system calls a call (${most.join(', ')}, …)`);
    counts.push(sum);
  }
  return Math.round(median(counts) * 100) / 100;
}
