/** The requests that a value of an alert was measured over. Pure. */
import type { AlertJson } from '#core/contracts/alert.ts';
import { WITHOUT_EXPERIMENTS } from '../../client/sources.ts';
import { filterText } from '../../parts/formats/filters.ts';
import { addCondition } from '../../parts/query-bar/edit.ts';
import { href } from '../../state/address.ts';
import { rangeName } from '../../state/range.ts';
import type { Group } from './words.ts';

const MINUTE_MS = 60_000;
/** What the API counts as an error. */
const FAILED = 'status:>=400';

/** Returns the field of queries that has a grouping's values. */
function fieldOf(grouping: string): string {
  // Both are of the model that answered, or, without an answer, the one that was asked for.
  if (grouping === 'model') return 'model_used';
  return grouping.startsWith('property:') ? `property.${grouping.slice('property:'.length)}` : grouping;
}

/** Returns the filter of an alert as query text; empty: all requests. */
export function alertFilter({ q, filter }: AlertJson['query']): string {
  return q ?? filterText(filter ?? null);
}

/**
 * Returns the address of the requests of a group in the window that ended at a moment. Of an alert on errors, those that failed.
 * @param endMs in milliseconds since the epoch
 */
export function requestsBehind(
  { query, window_minutes }: Pick<AlertJson, 'query' | 'window_minutes'>,
  group: Group,
  endMs: number,
): string {
  const filter = alertFilter(query).trim();
  const ofGroup = Object.entries(group).map(([grouping, value]) =>
    addCondition('', fieldOf(grouping), value),
  );
  const failed = query.measures[0]!.metric === 'errors' ? FAILED : '';
  const source = query.sources === undefined ? WITHOUT_EXPERIMENTS : `source:(${query.sources.join(' OR ')})`;
  const others = [...ofGroup, failed, source].filter((term) => term !== '' && term !== filter);
  const first = filter === '' || others.length === 0 ? filter : `(${filter})`;
  const q = [first, ...others].filter((term) => term !== '').join(' ');
  return href('/requests', { q, range: rangeName(endMs - window_minutes * MINUTE_MS, endMs) });
}
