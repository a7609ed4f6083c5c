/** Groups of requests, as SQL. */
import type { Draft } from './requests.ts';

/** A group: a text or null for each grouping. */
export type Group = readonly (string | null)[];

/** Writes groups as rows: k, g0, g1, … */
export function givenGroups(
  groups: readonly Group[],
  names: readonly string[],
  { parameters }: Draft,
): string {
  // Without a row, `values` would have no types.
  const none = `select 0 as k, ${names.map((name) => `null::text as ${name}`).join(', ')} where false`;
  const rows = groups.map(
    (group, index) =>
      `select ${index + 1}, ${group.map((value) => parameters.bind(value, 'text')).join(', ')}`,
  );
  return [none, ...rows].join(' union all ');
}

/** Writes the condition that two rows have the same group; null equals null. In this form Postgres can use a hash join. */
export function isSameGroup(one: string, other: string, names: readonly string[]): string {
  return names
    .map(
      (name) =>
        `coalesce(${one}.${name}, '') = coalesce(${other}.${name}, '') and (${one}.${name} is null) = (${other}.${name} is null)`,
    )
    .join(' and ');
}
