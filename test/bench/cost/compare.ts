/** Compares what calls cost with the kept figures. */
import type { Cost, Costs } from './count.ts';
import { type CostScenario, SCENARIOS } from './scenarios.ts';

export const RECORD_COMMAND = 'npm run bench cost -- --record';

export type FigureName = keyof Cost;

/** Counts of each scenario, as a column and in a sentence. */
export const UNITS: Record<FigureName, string> = {
  heapBytes: 'bytes on the JavaScript heap',
  externalBytes: 'bytes of ArrayBuffers',
  systemCalls: 'system calls',
};

/** Difference in bytes that is no finding, of the kept figure: runs differ by 1 to 2 %. */
const BYTES_ALLOWED = 0.05;

export type Change = { scenario: string; figure: FigureName; sentence: string };

export const FIGURE_NAMES = Object.keys(UNITS) as FigureName[];

/** Returns the differences that are findings. Figures that were not counted are none. */
export function findChanges(kept: Costs, found: Costs): Change[] {
  return SCENARIOS.flatMap((scenario) =>
    FIGURE_NAMES.flatMap((figure) => {
      const before = kept[scenario.name]?.[figure] ?? null;
      const now = found[scenario.name]?.[figure] ?? null;
      if (now === null || !isFinding(scenario, figure, before, now)) return [];
      const sentence = `"${scenario.name}": ${describe(UNITS[figure], before, now)}`;
      return [{ scenario: scenario.name, figure, sentence }];
    }),
  );
}

function isFinding(scenario: CostScenario, figure: FigureName, kept: number | null, found: number): boolean {
  if (kept === null) return true;
  const allowed = figure === 'systemCalls' ? scenario.systemCallsAllowed : kept * BYTES_ALLOWED;
  return Math.abs(found - kept) > allowed;
}

function describe(unit: string, kept: number | null, found: number): string {
  if (kept === null) return `a call costs ${found} ${unit}, none are kept. Record them: ${RECORD_COMMAND}`;
  const advice =
    found > kept
      ? `Make it as cheap as before or, if the new cost is meant, record it and say why in the commit: ${RECORD_COMMAND}`
      : `Record the gain, so that its loss would be seen: ${RECORD_COMMAND}`;
  return `a call costs ${found} ${unit}, kept are ${kept} (${formatChange(kept, found)}). ${advice}`;
}

/** Formats a change in percent, with its sign: `+4.0 %`. */
export function formatChange(before: number, now: number): string {
  const percent = (100 * (now - before)) / before;
  return `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(1)} %`;
}
