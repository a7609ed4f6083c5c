/** Computation of the cells of each family of roll-ups, from rows and from finer cells. */
import type { FamilyName } from '#core/rollups/mod.ts';
import type { Cells } from './cells.ts';
import { SCORES } from './scores.ts';
import { TOTALS } from './totals.ts';
import { VALUES } from './values.ts';

export type { CellTable } from './cells.ts';
export const CELLS: Readonly<Record<FamilyName, Cells>> = { totals: TOTALS, values: VALUES, scores: SCORES };
