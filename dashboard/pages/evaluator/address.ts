/** Addresses of one evaluator's page, and of the requests behind its numbers. */
import { scoreKeyOf } from '#core/evaluations/mod.ts';
import type { Bucket } from '../../client/evaluators.ts';
import { type AddressChanges, href } from '../../state/address.ts';

export const TABS = ['statistics', 'evaluations', 'definition', 'traffic', 'backfill', 'versions'] as const;
export type Tab = (typeof TABS)[number];

/** Reads the tab of an address; the first one without. */
export function readTab(text: string | undefined): Tab {
  return TABS.find((tab) => tab === text) ?? 'statistics';
}

/** @example evaluatorAddress(id, { tab: 'evaluations', state: 'dead' }) */
export function evaluatorAddress(id: string, query: AddressChanges = {}): string {
  return href(`/evaluators/${encodeURIComponent(id)}`, query);
}

/** Scores may be of any time: the longest range that the list of requests offers. */
const RANGE = '90d';

function requests(q: string): string {
  return href('/requests', { q, range: RANGE });
}

/** Returns the address of the requests that an evaluator of this name has scored. */
export function scoredAddress(name: string): string {
  return requests(`has:scores.${scoreKeyOf(name)}`);
}

/** Returns the address of the requests whose score lies in a bucket. */
export function bucketAddress(name: string, bucket: Bucket, isLast: boolean): string {
  const field = `scores.${scoreKeyOf(name)}`;
  if ('label' in bucket) return requests(`${field}:${bucket.score}`);
  return requests(`${field}:>=${bucket.from} ${field}:${isLast ? '<=' : '<'}${bucket.to}`);
}

/** Returns the address of the requests on one side of the threshold, that people rated so if `rating` says. */
export function sideAddress(
  name: string,
  { threshold, passes, rating }: { threshold: number; passes: boolean; rating?: boolean },
): string {
  const side = sidesQuery([{ name, threshold, passes }]);
  return requests(rating === undefined ? side : `${side} feedback:${rating}`);
}

/** One evaluator's side of its threshold. */
export type Side = { name: string; threshold: number; passes: boolean };

/** Returns the query of the requests that lie on these sides of several evaluators. */
export function sidesQuery(sides: readonly Side[]): string {
  return sides
    .map(({ name, threshold, passes }) => `scores.${scoreKeyOf(name)}:${passes ? '>=' : '<'}${threshold}`)
    .join(' ');
}

/** Returns the address of those requests. */
export function sidesAddress(sides: readonly Side[]): string {
  return requests(sidesQuery(sides));
}

/** Returns the address of the rated requests that have a score. */
export function ratedAddress(name: string): string {
  return requests(`has:scores.${scoreKeyOf(name)} has:feedback`);
}

/** Returns the address of the scored requests of some days (UTC), such as `2026-11-01`; both are included. */
export function daysAddress(name: string, first: string, last: string): string {
  const end = new Date(Date.parse(last) + 86_400_000).toISOString().slice(0, 10);
  return href('/requests', {
    q: `has:scores.${scoreKeyOf(name)}`,
    range: `${first}T00:00:00.000Z..${end}T00:00:00.000Z`,
  });
}
