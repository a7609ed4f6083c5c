/** The units of charts: how their values are written, beside the axis and in full. */
import { count, decimal, dollars, milliseconds, percent, shortCount } from '../formats/numbers.ts';

type Format = (value: number | null | undefined) => string;

/** What a chart's values are. */
export type Unit = 'count' | 'dollars' | 'milliseconds' | 'share' | 'number';

export const UNITS: Readonly<Record<Unit, { full: Format; short: Format }>> = {
  count: { full: count, short: shortCount },
  dollars: { full: dollars, short: dollars },
  milliseconds: { full: milliseconds, short: milliseconds },
  share: { full: percent, short: percent },
  number: { full: decimal, short: decimal },
};
