/** Addresses of pages about one thing, by its id. */
import { href } from '../../state/address.ts';
import { addCondition } from '../query-bar/edit.ts';

type Kind = 'session' | 'user';

/** Ids that no address can have as a part of its path: browsers go up by them. */
const STEPS = new Set(['', '.', '..']);

/** Returns the requests of a session or a user. */
export function requestsOf(kind: Kind, id: string, range?: string): string {
  return href('/requests', { q: addCondition('', kind, id), range: range ?? null });
}

/**
 * Returns the page of a session or a user; of an id that cannot stand in an address, its requests.
 * @example pageOf('session', 'a/b') // '/sessions/a%2Fb'
 */
export function pageOf(kind: Kind, id: string): string {
  return STEPS.has(id) ? requestsOf(kind, id, 'all') : `/${kind}s/${encodeURIComponent(id.toWellFormed())}`;
}
