/** Log-in of browsers: an API key, or the token of a one-time link, becomes a cookie that acts as the key. */
import { AssayError } from '#core/contracts/errors.ts';
import type { BrowserSessionJson, LoginBody, MeJson } from '#core/contracts/login.ts';
import {
  type BrowserSession,
  createSession,
  deleteExpiredSessions,
  endOtherSessions,
  endSession,
  listSessions,
  type SessionDirectory,
  takeLoginToken,
} from '#platform/browser-sessions/mod.ts';
import { type KnownPorts, rawHeadersOf, serverRequestOf } from '#platform/http-server/mod.ts';
import type { ApiKey, KeyDirectory } from '#platform/keys/mod.ts';
import { isLoopback } from '#platform/outbound/mod.ts';
import { inOrganization, noteActor, noteBegun, noteUrgent, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { selectKey, toKeyJson } from '../keys/mod.ts';
import { hasLoginCookie, loginCookie, readLoginCookie, replacedCookie } from './cookie.ts';
import { originOf, requireOwnPage } from './own-page.ts';
import { sessionFields, toSessionJson } from './session-json.ts';
import { addressOf, createTries } from './tries.ts';

export { LoginRateError } from './tries.ts';

/** Whom a call is made as; `session` is null where the call has its own key. */
export type Caller = { key: ApiKey; session: BrowserSession | null };

/** An answer, and the header that sets or deletes the browser's cookie. */
type WithCookie<T> = { data: T; cookie: string };

export type LoginService = {
  /**
   * Returns whom the cookie of a call stands for; null: it has none.
   * @throws AssayError invalid_session, key_expired, address_not_allowed, cross_site_request, invalid_header, store_unavailable
   */
  authenticate(request: Request): Promise<Caller | null>;
  /**
   * Checks where a call without a key comes from, and returns the origin of its page.
   * @throws AssayError address_not_allowed, cross_site_request
   */
  admit(request: Request): string;
  /**
   * Logs in, and ends the log-in of the cookie that came with the call.
   * @throws AssayError too_many_logins, invalid_body, invalid_api_key, key_expired, invalid_login_token, missing_scope
   */
  logIn(request: Request, origin: string, body: LoginBody): Promise<WithCookie<MeJson>>;
  /** Ends the log-in of a call's cookie, if it has one. */
  logOut(request: Request, origin: string): Promise<WithCookie<null>>;
  me(request: Request, caller: Caller): Promise<MeJson>;
  /** Lists the log-ins with the caller's key. */
  list(caller: Caller): Promise<BrowserSessionJson[]>;
  /** Ends one of them. @throws AssayError not_found */
  end(caller: Caller, sessionId: string): Promise<null>;
  /** Ends all of them but the caller's. */
  endOthers(caller: Caller): Promise<{ ended: number }>;
};

export type LoginServiceOptions = {
  /** A pool under the role `assay_api`. */
  sql: Sql;
  /** A pool of the owner, for what is looked up before the organization is known. */
  ownerSql: Sql;
  keys: Pick<KeyDirectory, 'find' | 'findById'>;
  sessions: Pick<SessionDirectory, 'find' | 'forgetOf'>;
  clock: Clock;
  publicUrl: string | null;
  ports: KnownPorts;
  /** Announces the end of log-ins to other processes, beside Postgres's notifications; never rejects. */
  announce(): Promise<void>;
};

export function createLoginService(options: LoginServiceOptions): LoginService {
  const { sql, ownerSql, keys, sessions, clock, publicUrl, ports, announce } = options;
  const tryToLogIn = createTries();

  function admit(request: Request): string {
    const origin = originOf(request, publicUrl);
    requireOwnPage(request, origin);
    return origin;
  }

  /** Returns the key to log in with. Unknown and revoked keys cost the same statement, and get the same answer. */
  async function keyOf({ key, token }: LoginBody): Promise<ApiKey> {
    if ((key === undefined) === (token === undefined)) {
      throw new AssayError('invalid_body', 'The body must hold either key or token');
    }
    if (key !== undefined) {
      const found = await keys.find(key.trim());
      if (found === null) throw new AssayError('invalid_api_key', 'This API key is not valid');
      return found;
    }
    const keyId = await takeLoginToken(ownerSql, token!, clock.now());
    // The link is used up.
    noteBegun();
    const found = keyId === null ? null : await keys.findById(keyId);
    if (found !== null) return found;
    throw new AssayError(
      'invalid_login_token',
      'This link was used already, or is too old: log in with an API key, or make another link with npm start -- login-link',
    );
  }

  async function me(request: Request, { key, session }: Caller): Promise<MeJson> {
    noteUrgent();
    const { organizationId, keyId } = key;
    const record = await inOrganization(sql, organizationId, (tx) => selectKey(tx, organizationId, keyId));
    return {
      organization: { id: organizationId, name: record!.organizationName },
      key: toKeyJson(record!, clock.now()),
      via: session === null ? 'key' : 'session',
      session: session === null ? null : sessionFields(session),
      gateway_url: gatewayUrl(request, ports),
    };
  }

  /** Ends the log-in that a secret opens, if there is one. */
  async function endOf(secret: string | null): Promise<void> {
    const session = secret === null ? null : await sessions.find(secret);
    if (session === null) return;
    const { organizationId, keyId, sessionId } = session;
    noteActor(keyId);
    await inOrganization(sql, organizationId, (tx) => endSession(tx, keyId, sessionId));
    await spreadEnd(keyId);
  }

  /** Makes the end of log-ins known: to this process at once, to the others within a second. */
  async function spreadEnd(keyId: string): Promise<void> {
    sessions.forgetOf(keyId);
    await announce();
  }

  return {
    authenticate: async (request) => {
      const rawHeaders = rawHeadersOf(request);
      if (!hasLoginCookie(rawHeaders)) return null;
      const origin = admit(request);
      const secret = readLoginCookie(rawHeaders, origin);
      if (secret === null) return null;
      const session = await sessions.find(secret);
      const key = session === null ? null : await keys.findById(session.keyId);
      if (session === null || key === null) {
        throw new AssayError('invalid_session', 'This log-in has ended: log in again');
      }
      return { key, session };
    },

    admit,

    logIn: async (request, origin, body) => {
      noteUrgent();
      const nowMs = clock.now();
      const isProxied = origin.startsWith('https:') && !serverRequestOf(request).peer.isSecure;
      const key = await tryToLogIn(addressOf(request, isProxied), nowMs, async () => {
        const found = await keyOf(body);
        if (found.scopes.has('read')) return found;
        throw new AssayError('missing_scope', 'This API key lacks the scope read, which log-in needs');
      });
      const { organizationId, keyId } = key;
      // The new cookie replaces this one in the browser: nobody could log out of its log-in any more.
      await endOf(replacedCookie(rawHeadersOf(request), origin));
      await deleteExpiredSessions(ownerSql, nowMs);
      noteActor(keyId);
      const userAgent = request.headers.get('user-agent') ?? '';
      const { secret, session } = await inOrganization(sql, organizationId, (tx) =>
        createSession(tx, { organizationId, keyId, userAgent, nowMs }),
      );
      return { data: await me(request, { key, session }), cookie: loginCookie(origin, secret) };
    },

    logOut: async (request, origin) => {
      noteUrgent();
      await endOf(readLoginCookie(rawHeadersOf(request), origin));
      return { data: null, cookie: loginCookie(origin, null) };
    },

    me,

    list: async ({ key: { organizationId, keyId }, session: own }) => {
      noteUrgent();
      const nowMs = clock.now();
      const found = await inOrganization(sql, organizationId, (tx) => listSessions(tx, keyId, nowMs));
      return found.map((session) => toSessionJson(session, own));
    },

    end: async ({ key: { organizationId, keyId } }, sessionId) => {
      noteUrgent();
      const isEnded = await inOrganization(sql, organizationId, (tx) => endSession(tx, keyId, sessionId));
      if (!isEnded) {
        throw new AssayError('not_found', `There is no log-in of this key with the id "${sessionId}"`);
      }
      await spreadEnd(keyId);
      return null;
    },

    endOthers: async ({ key: { organizationId, keyId }, session }) => {
      noteUrgent();
      const ended = await inOrganization(sql, organizationId, (tx) =>
        endOtherSessions(tx, keyId, session?.sessionId ?? null),
      );
      await spreadEnd(keyId);
      return { ended };
    },
  };
}

/** Returns the gateway's address for a caller on this machine; null: the caller is elsewhere, or the port is not known. */
function gatewayUrl(request: Request, { gateway }: KnownPorts): string | null {
  const protocol = serverRequestOf(request).peer.isSecure ? 'https:' : 'http:';
  const text = `${protocol}//${request.headers.get('host') ?? ''}`;
  if (gateway === null || !URL.canParse(text)) return null;
  const { hostname } = new URL(text);
  return isLoopback(hostname) ? `${protocol}//${hostname}:${gateway}` : null;
}
