/** Log-ins of browsers, each of which acts as an API key, and the one-time tokens of links that log in. */
export { createSessionDirectory, type SessionDirectory } from './directory.ts';
export { createLoginToken, findFirstReader, LOGIN_TOKEN_MINUTES, takeLoginToken } from './login-tokens.ts';
export { LIFETIME_MS } from './secret.ts';
export {
  type BrowserSession,
  createSession,
  deleteExpiredSessions,
  endOtherSessions,
  endSession,
  listSessions,
} from './store.ts';
