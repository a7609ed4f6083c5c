/** The address of a comparison. Pure. */

import { MOST_COMPARED } from '../experiments/address.ts';
import { CLUSTERS_SHOWN, type ClusterName } from './words.ts';

export type Wanted = {
  /** Empty: none is chosen. */
  baseline: string;
  candidates: readonly string[];
  margin: number | null;
  cluster: ClusterName;
};

const isCluster = (text: string | undefined): text is ClusterName =>
  text !== undefined && Object.hasOwn(CLUSTERS_SHOWN, text);

/** Reads a margin; null: there is none, or it is no number that the API takes. */
export function readMargin(text: string | undefined): number | null {
  const margin = Number(text ?? '');
  return (text ?? '').trim() === '' || !(margin >= 0 && margin <= 1e6) ? null : margin;
}

/** Reads an address. */
export function readWanted(query: Readonly<Record<string, string>>): Wanted {
  const baseline = query.baseline ?? '';
  const ids = (query.candidates ?? '').split(',').filter((id) => id !== '' && id !== baseline);
  return {
    baseline,
    candidates: [...new Set(ids)].slice(0, MOST_COMPARED - 1),
    margin: readMargin(query.margin),
    cluster: isCluster(query.cluster) ? query.cluster : 'cluster',
  };
}

/** Returns the experiments with another one as the baseline, which one of the candidates may have been. */
export function withBaseline({ baseline, candidates }: Wanted, next: string): string[] {
  const others = [baseline, ...candidates].filter((id) => id !== next && id !== '');
  return candidates.includes(next) ? [next, ...others] : [next, ...candidates];
}
