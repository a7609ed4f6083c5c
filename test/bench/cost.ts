/**
 * `npm run bench cost`: what a call costs the gateway in bytes allocated and in system calls, beside the kept figures, which
 * test/system/cost holds it to. Counts, unlike times, need no quiet machine. Linux only.
 */
import { Command } from 'commander';
import { FIGURE_NAMES, findChanges, formatChange, UNITS } from './cost/compare.ts';
import { type Cost, type Costs, countCosts } from './cost/count.ts';
import { readKept, writeKept } from './cost/kept.ts';
import { systemCallsAreHidden } from './cost/system-calls.ts';
import { describeMachine } from './machine.ts';
import { formatTable, median, print } from './table.ts';

const UNKNOWN = '–';

function formatCosts(kept: Costs, found: Costs): string {
  const rows = Object.entries(found).flatMap(([scenario, cost]) =>
    FIGURE_NAMES.map((name) => {
      const [before, now] = [kept[scenario]?.[name] ?? null, cost[name]];
      const isComparable = before !== null && now !== null;
      return [
        `${scenario}: ${UNITS[name]}`,
        String(now ?? UNKNOWN),
        String(before ?? UNKNOWN),
        isComparable ? formatChange(before, now) : UNKNOWN,
      ];
    }),
  );
  return formatTable([['a call', 'current', 'kept', 'difference'], ...rows]);
}

/** Figures of a process differ from those of the next by a percent or two: of those that are kept, the median is. */
const STARTS_TO_RECORD = 3;

function medianOf(all: readonly Costs[]): Costs {
  const medianCost = (scenario: string) => {
    const figures = FIGURE_NAMES.map((name) => [name, median(all.map((costs) => costs[scenario]![name]!))]);
    return Object.fromEntries(figures) as Cost;
  };
  return Object.fromEntries(Object.keys(all[0]!).map((scenario) => [scenario, medianCost(scenario)]));
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench cost')
    .description('What a call costs the gateway in bytes allocated and system calls, beside the kept figures')
    .option('--record', 'keep the medians of three starts in test/system/cost/kept.json', false)
    .parse(args, { from: 'user' });
  const { record } = command.opts<{ record: boolean }>();
  const hidden = await systemCallsAreHidden();
  if (hidden !== false && record) throw new Error(`Without system calls nothing is recorded: ${hidden}`);
  if (hidden !== false) process.stderr.write(`System calls are not counted: ${hidden}\n`);
  const count = () =>
    countCosts({
      countsSystemCalls: hidden === false,
      onProgress: (line) => process.stderr.write(`${line}\n`),
    });
  const counts = [await count()];
  while (record && counts.length < STARTS_TO_RECORD) counts.push(await count());
  const found = record ? medianOf(counts) : counts[0]!;
  const kept = readKept();
  print(`\n${describeMachine()}; kept for Node ${kept.node}\n`);
  print(formatCosts(kept.costs, found));
  if (record) writeKept(found);
  else for (const { sentence } of findChanges(kept.costs, found)) print(`\n${sentence}`);
}
