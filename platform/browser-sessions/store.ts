/**
 * Log-ins in Postgres. The statements about one key run under the role `assay_api`, in a transaction of its organization; the
 * others as the owner.
 */
import { lockName, type Sql, type TransactionSql } from '../postgres/mod.ts';
import { generateSecret, hashSecret, IDLE_MS, LIFETIME_MS } from './secret.ts';

/** A log-in of a browser. */
export type BrowserSession = {
  sessionId: string;
  organizationId: string;
  /** The API key that its calls are made with. */
  keyId: string;
  /** As the browser named itself, cut; '' if it did not. */
  userAgent: string;
  createdAt: Date;
  /** To the minute. */
  lastUsedAt: Date;
  expiresAt: Date;
};

/** Log-ins of one key: more are a loop that makes them. */
const MAX_SESSIONS_PER_KEY = 50;
const MAX_USER_AGENT_LENGTH = 200;

const columns = (sql: Sql | TransactionSql) => sql`
  session_id as "sessionId", organization_id as "organizationId", key_id as "keyId", user_agent as "userAgent",
  created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt"`;

/** Creates a log-in; only the returned secret opens it. The oldest one of the key ends when there are too many. */
export async function createSession(
  tx: TransactionSql,
  wanted: { organizationId: string; keyId: string; userAgent: string; nowMs: number },
): Promise<{ secret: string; session: BrowserSession }> {
  const { organizationId, keyId, nowMs } = wanted;
  const secret = generateSecret();
  const now = new Date(nowMs);
  // One log-in of a key at a time: of several at once, each would count without the others.
  await lockName(tx, `browser_sessions ${keyId}`);
  const [session] = await tx<BrowserSession[]>`
    insert into assay.browser_sessions
      (organization_id, key_id, hash, user_agent, created_at, last_used_at, expires_at)
    values (${organizationId}, ${keyId}, ${hashSecret(secret)}, ${wanted.userAgent.slice(0, MAX_USER_AGENT_LENGTH)},
      ${now}, ${now}, ${new Date(nowMs + LIFETIME_MS)})
    returning ${columns(tx)}`;
  await tx`
    delete from assay.browser_sessions where session_id in (
      select session_id from assay.browser_sessions
      where key_id = ${keyId} and session_id <> ${session!.sessionId}
      order by created_at desc, session_id
      offset ${MAX_SESSIONS_PER_KEY - 1})`;
  return { secret, session: session! };
}

/** Returns whether a log-in holds at this moment. */
export function isAlive({ lastUsedAt, expiresAt }: BrowserSession, nowMs: number): boolean {
  return nowMs < expiresAt.getTime() && nowMs < lastUsedAt.getTime() + IDLE_MS;
}

/** Returns the log-ins with these SHA-256, in the same order. Each may have run out; null: there is none. */
export async function findSessions(sql: Sql, digests: readonly Buffer[]): Promise<(BrowserSession | null)[]> {
  const rows = await sql<(BrowserSession & { hash: Buffer })[]>`
    select hash, ${columns(sql)} from assay.browser_sessions
    where hash = any(${digests.map((digest) => `\\x${digest.toString('hex')}`)}::bytea[])`;
  const found = new Map(rows.map(({ hash, ...session }) => [hash.toString('latin1'), session]));
  return digests.map((digest) => found.get(digest.toString('latin1')) ?? null);
}

/** Notes that a log-in was used. */
export async function touchSession(sql: Sql, sessionId: string, at: Date): Promise<void> {
  await sql`
    update assay.browser_sessions set last_used_at = ${at}
    where session_id = ${sessionId} and last_used_at < ${at}`;
}

/** Lists the log-ins of a key that hold, the latest used first. */
export async function listSessions(
  tx: TransactionSql,
  keyId: string,
  nowMs: number,
): Promise<BrowserSession[]> {
  const found = await tx<BrowserSession[]>`
    select ${columns(tx)} from assay.browser_sessions where key_id = ${keyId}
    order by last_used_at desc, created_at desc, session_id`;
  return found.filter((session) => isAlive(session, nowMs));
}

/** Ends a log-in of a key. Returns false when there is none of this id. */
export async function endSession(tx: TransactionSql, keyId: string, sessionId: string): Promise<boolean> {
  const { count } = await tx`
    delete from assay.browser_sessions where key_id = ${keyId} and session_id = ${sessionId}`;
  return count > 0;
}

/** Ends all log-ins of a key, except the one named. Returns how many there were. */
export async function endOtherSessions(
  tx: TransactionSql,
  keyId: string,
  exceptId: string | null,
): Promise<number> {
  const { count } = await tx`
    delete from assay.browser_sessions
    where key_id = ${keyId} and session_id is distinct from ${exceptId}::uuid`;
  return count;
}

/** Deletes log-ins of all keys whose time is over: nobody ends those of a key that is not used any more. */
export async function deleteExpiredSessions(sql: Sql, nowMs: number): Promise<void> {
  await sql`delete from assay.browser_sessions where expires_at <= ${new Date(nowMs)}`;
}
