import type { KeyJson, KeyState } from '#core/contracts/keys.ts';
import type { KeyRecord } from '#platform/keys/mod.ts';

/** Returns whether a key works at this moment, or why it does not. */
export function stateOf(
  { revokedAt, expiresAt }: Pick<KeyRecord, 'revokedAt' | 'expiresAt'>,
  nowMs: number,
): KeyState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt.getTime() <= nowMs ? 'expired' : 'active';
}

const timeOrNull = (time: Date | null) => time?.toISOString() ?? null;
const copyOrNull = (list: readonly string[] | null) => (list === null ? null : [...list]);

/** Returns a key as the API shows it. */
export function toKeyJson(record: KeyRecord, nowMs: number): KeyJson {
  return {
    id: record.keyId,
    name: record.name,
    prefix: record.prefix,
    state: stateOf(record, nowMs),
    scopes: [...record.scopes],
    expires_at: timeOrNull(record.expiresAt),
    models: copyOrNull(record.models),
    providers: copyOrNull(record.providers),
    paths: copyOrNull(record.paths),
    rate_limit_policy: record.rateLimitPolicy,
    owner: record.owner,
    tags: record.tags,
    rotated_from: record.rotatedFrom,
    created_at: record.createdAt.toISOString(),
    revoked_at: timeOrNull(record.revokedAt),
    last_used_at: timeOrNull(record.lastUsedAt),
  };
}
