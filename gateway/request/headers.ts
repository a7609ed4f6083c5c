/**
 * Reads a call's headers in one pass: those for the gateway, and those that the provider gets. The latter are an allow-list,
 * so that no credential, cookie or forwarding header of the caller ever leaves by accident.
 */
import { onlyCredential } from '#platform/http-server/mod.ts';
import type { CallHeaders } from './call.ts';
import { addWarning } from './header-warnings.ts';
import { joinedValue, MAX_ID_LENGTH, readServiceHeader } from './service-headers.ts';

const FORWARDED = new Set([
  'accept',
  'accept-language',
  'user-agent',
  'idempotency-key',
  'http-referer',
  'x-title',
  'x-client-request-id',
]);
const FORWARDED_TO_OPENAI = new Set(['openai-organization', 'openai-project', 'openai-beta']);
const FORWARDED_TO_ANTHROPIC = new Set(['anthropic-version', 'anthropic-beta', 'anthropic-user-profile-id']);
/** The headers in which coding agents name their session. Those of Codex have so common names that others may hold secrets in them. */
const CLAUDE_CODE_SESSION = 'x-claude-code-session-id';
const CODEX_SESSION = new Set(['session-id', 'session_id']);
const CODEX_USER_AGENT = /^codex/i;
/** The official SDKs describe themselves to the provider in these. */
const FORWARDED_PREFIX = 'x-stainless-';
const SERVICE_PREFIX = 'service-';
/** A product whose headers mean the same, and from which callers migrate. */
const HELICONE_PREFIX = 'helicone-';

/**
 * Reads a call's headers.
 * @param rawHeaders flat list of names and values, as received
 * @throws AssayError invalid_header
 */
export function readCallHeaders(rawHeaders: readonly string[]): CallHeaders {
  const call: CallHeaders = {
    authorization: null,
    xApiKey: null,
    serviceAuth: null,
    internal: null,
    contentEncoding: null,
    acceptEncoding: null,
    requestId: null,
    userId: null,
    sessionId: null,
    sessionPath: null,
    sessionName: null,
    promptId: null,
    experimentId: null,
    omitRequest: false,
    omitResponse: false,
    rateLimitPolicy: null,
    cache: { isEnabled: false, cacheControl: null, seed: null, bucketMaxSize: null, isCoalescing: false },
    retry: { isEnabled: false, num: null },
    properties: [],
    forwarded: [],
    forwardedTo: { openai: [], anthropic: [] },
    warnings: [],
  };
  let claudeCodeSession: string | null = null;
  let codexSession: string | null = null;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index]!;
    const value = rawHeaders[index + 1]!;
    const name = given.toLowerCase();
    if (FORWARDED.has(name) || name.startsWith(FORWARDED_PREFIX)) call.forwarded.push(name, value);
    else if (name.startsWith(SERVICE_PREFIX)) {
      if (!readServiceHeader(call, given, value)) addWarning(call.warnings, given);
    } else if (name.startsWith(HELICONE_PREFIX)) addWarning(call.warnings, given);
    else if (name === 'authorization') call.authorization = onlyCredential(given, call.authorization, value);
    else if (name === 'x-api-key') call.xApiKey = onlyCredential(given, call.xApiKey, value);
    else if (name === 'content-encoding') call.contentEncoding = value;
    else if (name === 'accept-encoding') call.acceptEncoding = joinedValue(call.acceptEncoding, value);
    else if (name === 'cache-control') call.cache.cacheControl = joinedValue(call.cache.cacheControl, value);
    else if (FORWARDED_TO_OPENAI.has(name)) call.forwardedTo.openai.push(name, value);
    else if (FORWARDED_TO_ANTHROPIC.has(name)) call.forwardedTo.anthropic.push(name, value);
    else if (name === CLAUDE_CODE_SESSION) claudeCodeSession = value;
    else if (CODEX_SESSION.has(name)) codexSession = value;
  }
  const agentSession =
    claudeCodeSession ?? (codexSession !== null && isCodex(call.forwarded) ? codexSession : null);
  if (agentSession !== null && agentSession.length <= MAX_ID_LENGTH) call.sessionId ??= agentSession;
  return call;
}

function isCodex(forwarded: readonly string[]): boolean {
  return CODEX_USER_AGENT.test(forwarded[forwarded.indexOf('user-agent') + 1] ?? '');
}
