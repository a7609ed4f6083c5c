/** The roll-ups of a seeded cluster, which a running product would have made by and by. */
import type { Sql } from '#platform/postgres/mod.ts';
import { applyAllChanges, recomputeAll, registerRollups } from '../../support/rollups.ts';
import { print } from '../table.ts';

/** Computes the roll-ups that are missing or stale; of ten million requests, all take some ten minutes. */
export async function makeRollups(owner: Sql): Promise<void> {
  const startedAt = performance.now();
  await registerRollups(owner);
  await applyAllChanges(owner);
  const recomputed = await recomputeAll(owner);
  if (recomputed === 0) return;
  await owner`vacuum (analyze) assay.rollup_totals, assay.rollup_histograms, assay.rollup_values, assay.rollup_scores`;
  print(`Made ${recomputed} buckets in ${Math.round((performance.now() - startedAt) / 1_000)} s\n`);
}
