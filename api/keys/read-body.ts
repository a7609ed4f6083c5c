/** Reads the parts of a body that its schema cannot check. */
import { quoteValue } from '#core/contracts/check.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import type { ChangeKeyBody } from '#core/contracts/keys.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { parseTimestamp } from '#core/filter/mod.ts';
import type { Grant } from '#core/keys/mod.ts';
import { parsePolicy } from '#core/rate-limit/mod.ts';

/** The name, owner and tags of a key, none of which bounds it. */
export type Label = { name: string; owner: string | null; tags: readonly string[] };

/**
 * Returns the label and the grant of a key: `present`, changed by a body.
 * @throws AssayError invalid_body, invalid_rate_limit_policy
 */
export function readKey(body: ChangeKeyBody, present: Label & Grant, nowMs: number): Label & Grant {
  const { name, owner, tags, scopes, models, providers, paths } = body;
  const { rate_limit_policy: policy, expires_at: expiry } = body;
  return {
    name: name === undefined ? present.name : storableText(name),
    owner: owner === undefined ? present.owner : owner === null ? null : storableText(owner),
    tags: tags?.map(storableText) ?? present.tags,
    scopes: scopes === undefined ? present.scopes : [...new Set(scopes)],
    models: models === undefined ? present.models : models,
    providers: providers === undefined ? present.providers : providers,
    paths: paths === undefined ? present.paths : paths,
    rateLimitPolicy:
      policy === undefined ? present.rateLimitPolicy : policy === null ? null : parsePolicy(policy).text,
    expiresAt: expiry === undefined ? present.expiresAt : readExpiry(expiry, nowMs),
  };
}

function readExpiry(text: string | null, nowMs: number): Date | null {
  if (text === null) return null;
  const at = parseTimestamp(text);
  const but = `, but is ${quoteValue(text)}`;
  if (at === null) {
    throw invalidField('expires_at', `must be an RFC 3339 timestamp like "2027-01-31T12:00:00.000Z"${but}`);
  }
  if (at <= nowMs)
    throw invalidField('expires_at', `must be in the future${but}; DELETE revokes a key at once`);
  return new Date(at);
}
