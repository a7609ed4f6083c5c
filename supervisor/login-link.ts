/** The link that logs a browser in once. */
import { createLoginToken, findFirstReader, LOGIN_TOKEN_MINUTES } from '#platform/browser-sessions/mod.ts';
import type { Config } from '#platform/config/mod.ts';
import { findKeyByIdOrPrefix } from '#platform/keys/mod.ts';
import { isLoopback } from '#platform/outbound/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';

/** Returns an address that a browser or curl on this machine can open. */
export function openable(address: string): string {
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** Returns where a browser opens the dashboard, when the API listens on `api`. */
export function dashboardAddress({ publicUrl }: Pick<Config, 'publicUrl'>, api: string): string {
  return publicUrl ?? openable(api);
}

/** Returns whether the API takes a log-in at its address: elsewhere than on loopback it has to be the one in PUBLIC_URL. */
export function takesLogin(config: Pick<Config, 'publicUrl'>, api: string): boolean {
  return config.publicUrl !== null || isLoopback(new URL(openable(api)).hostname);
}

/**
 * Makes a link that logs a browser in once, as this key, else as the oldest one that may see every page. Null: there is none.
 * @throws AssayError not_found; conflict when several keys have the prefix
 */
export async function makeLoginLink(
  sql: Sql,
  { address, key, nowMs }: { address: string; key: string | null; nowMs: number },
): Promise<string | null> {
  const keyId = key === null ? await findFirstReader(sql, nowMs) : await idOf(sql, key, nowMs);
  if (keyId === null) return null;
  return `${address}/#login=${await createLoginToken(sql, keyId, nowMs)}`;
}

/** How long a link works and how often, for people. */
export const LINK_RULE = `works once, for ${LOGIN_TOKEN_MINUTES} minutes`;

/** Returns the id of a key that can log in. */
async function idOf(sql: Sql, keyIdOrPrefix: string, nowMs: number): Promise<string> {
  const { keyId, scopes, revokedAt, expiresAt } = await findKeyByIdOrPrefix(sql, keyIdOrPrefix);
  const isOver = revokedAt !== null || (expiresAt !== null && expiresAt.getTime() <= nowMs);
  if (isOver) throw new Error(`The key ${keyId} is revoked or has expired`);
  if (!scopes.includes('read')) throw new Error(`The key ${keyId} lacks the scope read, which log-in needs`);
  return keyId;
}
