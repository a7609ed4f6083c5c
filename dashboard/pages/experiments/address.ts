/** Addresses of experiments. */
import { type AddressChanges, href } from '../../state/address.ts';

/** Experiments that are compared at once: a baseline and three others. */
export const MOST_COMPARED = 4;

/** Returns the address of an experiment's page. */
export function experimentAddress(id: string): string {
  return `/experiments/${encodeURIComponent(id)}`;
}

/** Returns the address of a comparison, the baseline first. */
export function comparisonAddress(ids: readonly string[], query: AddressChanges = {}): string {
  const [baseline = null, ...candidates] = ids;
  return href('/experiments/compare', { baseline, candidates: candidates.join(','), ...query });
}
