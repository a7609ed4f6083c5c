/** What an API key may do, and which of two keys may do more: a key makes no key that is wider than itself. */
import { parsePolicy } from '../rate-limit/mod.ts';
import { matchesGlob } from './glob.ts';

export const SCOPES = ['gateway', 'read', 'write'] as const;
export type Scope = (typeof SCOPES)[number];

/** The models, providers and paths that the calls of a key are confined to; null: all. */
export type AllowLists = {
  /** Globs of models, as in `gpt-4o*` or `anthropic/*`. */
  models: readonly string[] | null;
  providers: readonly string[] | null;
  /** Globs of paths, as in `/v1/request/*`. */
  paths: readonly string[] | null;
};

/** Everything by which one key can be wider than another. */
export type Grant = AllowLists & {
  scopes: readonly Scope[];
  /** Bound on the calls of the key; null: none. */
  rateLimitPolicy: string | null;
  /** null: never. */
  expiresAt: Date | null;
};

/** A respect in which one key is wider than another: the field, and the rest of a sentence about it. */
type Excess = { field: string; reason: string };

const quote = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ');

/**
 * Returns the first respect in which `wanted` is wider than `own`; null: whatever `wanted` admits, `own` admits too.
 * @throws AssayError invalid_rate_limit_policy
 */
export function findExcess(wanted: Grant, own: Grant): Excess | null {
  const lacking = wanted.scopes.filter((scope) => !own.scopes.includes(scope));
  if (lacking.length > 0) return { field: 'scopes', reason: `the caller's key lacks ${quote(lacking)}` };
  return (
    listExcess('models', wanted.models, own.models) ??
    listExcess('providers', wanted.providers, own.providers) ??
    listExcess('paths', wanted.paths, own.paths) ??
    policyExcess(wanted.rateLimitPolicy, own.rateLimitPolicy) ??
    expiryExcess(wanted.expiresAt, own.expiresAt)
  );
}

/**
 * Compares two lists. Each glob must be covered by a single one of the caller's: that two of them together cover a third is
 * possible, as `a*` and `b*` cover `a*` or `b*`, only where one of them does so alone or letters are listed one by one.
 */
function listExcess(
  field: string,
  wanted: readonly string[] | null,
  own: readonly string[] | null,
): Excess | null {
  if (own === null) return null;
  const allowed = `the caller's key is confined to ${quote(own)}`;
  if (wanted === null) return { field, reason: `${allowed}, and this one would not be confined` };
  const uncovered = wanted.filter((glob) => !own.some((wider) => matchesGlob(wider, glob)));
  return uncovered.length === 0
    ? null
    : { field, reason: `${allowed}, which does not cover ${quote(uncovered)}` };
}

/**
 * Compares two policies. Those of other units or segments cannot be compared, so a caller with a policy gives its own unit
 * and segment. An interval of the caller's window is covered by ⌈w / w′⌉ intervals of the new one, each of which can be
 * filled: together they must stay within the caller's quota.
 */
function policyExcess(wanted: string | null, own: string | null): Excess | null {
  if (own === null) return null;
  const field = 'rate_limit_policy';
  const ownPolicy = parsePolicy(own);
  const bound = `the caller's key has the policy ${ownPolicy.text}`;
  if (wanted === null) return { field, reason: `${bound}, and this one would have none` };
  const { unit, segment, quota, windowS, text } = parsePolicy(wanted);
  if (unit !== ownPolicy.unit || segment !== ownPolicy.segment) {
    return { field, reason: `${bound}, and ${text} counts something else` };
  }
  const most = quota * Math.ceil(ownPolicy.windowS / windowS);
  return most <= ownPolicy.quota ? null : { field, reason: `${bound}, and ${text} admits more` };
}

function expiryExcess(wanted: Date | null, own: Date | null): Excess | null {
  if (own === null || (wanted !== null && wanted.getTime() <= own.getTime())) return null;
  return { field: 'expires_at', reason: `the caller's key expires at ${own.toISOString()}` };
}
