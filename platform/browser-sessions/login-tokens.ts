/** Tokens of links that log a browser in once. The statements run as the owner. */
import type { Sql } from '../postgres/mod.ts';
import { generateSecret, hashSecret } from './secret.ts';

export const LOGIN_TOKEN_MINUTES = 10;

/** Creates a token that logs in as a key. Only the returned text holds it. */
export async function createLoginToken(sql: Sql, keyId: string, nowMs: number): Promise<string> {
  const token = generateSecret();
  const expiresAt = new Date(nowMs + LOGIN_TOKEN_MINUTES * 60_000);
  await sql`delete from assay.login_tokens where expires_at <= ${new Date(nowMs)}`;
  await sql`
    insert into assay.login_tokens (hash, key_id, expires_at)
    values (${hashSecret(token)}, ${keyId}, ${expiresAt})`;
  return token;
}

/** Uses a token up. Returns the key that it logs in as; null: it is unknown, was used, or its time is over. */
export async function takeLoginToken(sql: Sql, token: string, nowMs: number): Promise<string | null> {
  const digest = hashSecret(token);
  if (digest === null) return null;
  // Of two that use a token at the same moment, one deletes the row.
  const [taken] = await sql<{ keyId: string; expiresAt: Date }[]>`
    delete from assay.login_tokens where hash = ${digest} returning key_id as "keyId", expires_at as "expiresAt"`;
  return taken !== undefined && nowMs < taken.expiresAt.getTime() ? taken.keyId : null;
}

/** Returns the oldest key that may see every page: it works, has the scope `read`, and is confined to no paths. Null: none. */
export async function findFirstReader(sql: Sql, nowMs: number): Promise<string | null> {
  const [first] = await sql<{ keyId: string }[]>`
    select key_id as "keyId" from assay.api_keys
    where revoked_at is null and (expires_at is null or expires_at > ${new Date(nowMs)})
      and 'read' = any(scopes) and paths is null
    order by created_at, key_id limit 1`;
  return first?.keyId ?? null;
}
