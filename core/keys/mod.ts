/** API keys, the pure part: what they may do, and which of two may do more. */
export { matchesAny } from './glob.ts';
export { type AllowLists, findExcess, type Grant, SCOPES, type Scope } from './grant.ts';
