import type { BrowserSessionJson } from '#core/contracts/login.ts';
import type { BrowserSession } from '#platform/browser-sessions/mod.ts';

/** Returns the fields of a log-in that its owner and others see. */
export function sessionFields(session: BrowserSession): Omit<BrowserSessionJson, 'is_current'> {
  return {
    id: session.sessionId,
    user_agent: session.userAgent,
    created_at: session.createdAt.toISOString(),
    last_used_at: session.lastUsedAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
  };
}

/** Returns a log-in as lists show it. */
export function toSessionJson(session: BrowserSession, own: BrowserSession | null): BrowserSessionJson {
  return { ...sessionFields(session), is_current: session.sessionId === own?.sessionId };
}
