/** Who is logged in. */
import { signal } from '@preact/signals';
import type { LoginBody, MeJson } from '#core/contracts/login.ts';
import { type ApiFailure, call, whenSignedOut } from '../client/call.ts';
import { forgetAll } from '../client/recent.ts';
import { toFailure } from '../client/resource.ts';
import { takeLinkToken } from './link-token.ts';
import { isWriting } from './written.ts';

export type Me = MeJson;

export type Identity =
  | { kind: 'unknown' }
  | { kind: 'signed-out' }
  | { kind: 'failed'; failure: ApiFailure }
  /** `hasEnded`: the log-in is over, and what is being written on the page waits for another one with the same key. */
  | { kind: 'signed-in'; me: Me; hasEnded?: boolean };

export const identity = signal<Identity>({ kind: 'unknown' });

/** Why the link that the page was opened with logged nobody in; null: there was none, or it did. */
export const linkFailure = signal<ApiFailure | null>(null);

/** Of the link that the page was opened with. Taken when the page loads, before anything can read the address. */
let linkToken = takeLinkToken(window);

/** Whether somebody may be logged in, and nobody else is about to be. */
export function mayAskAhead(): boolean {
  return linkToken === null;
}

/** Other tabs of the browser, which have the same cookie. Null: not listened to yet. */
let otherTabs: BroadcastChannel | null = null;

function beSignedIn(me: Me): void {
  const before = identity.value;
  // Answers of the log-in before.
  if (before.kind !== 'signed-in' || before.me.key.id !== me.key.id) forgetAll();
  identity.value = { kind: 'signed-in', me };
}

/** Follows the log-ins and log-outs of other tabs; called once. */
export function listenToOtherTabs(): void {
  otherTabs = new BroadcastChannel('log-in');
  let asking = new AbortController();
  otherTabs.onmessage = () => {
    // A late answer to the message before would tell of a log-in that is over.
    asking.abort();
    asking = new AbortController();
    // A refusal is told to `whenSignedOut`; after another failure, the next call tells.
    call<Me>('GET', '/v1/me', undefined, asking.signal).then(beSignedIn, () => {});
  };
}

/** Logs in with an API key, or with the token of a link. */
export async function logIn(body: LoginBody): Promise<void> {
  beSignedIn(await call<Me>('POST', '/v1/login', body));
  otherTabs?.postMessage(null);
}

/** Logs in with the token of a link. Returns whether that worked. */
async function followLink(token: string): Promise<boolean> {
  try {
    await logIn({ token });
    return true;
  } catch (error) {
    linkFailure.value = toFailure(error);
    return false;
  }
}

/** Asks the API who is logged in, after following the link that the page was opened with. */
export async function readIdentity(): Promise<void> {
  const token = linkToken;
  linkToken = null;
  if (token !== null && (await followLink(token))) return;
  try {
    identity.value = { kind: 'signed-in', me: await call<Me>('GET', '/v1/me') };
    // Somebody is logged in all the same.
    linkFailure.value = null;
  } catch (error) {
    const failure = toFailure(error);
    identity.value = failure.status === 401 ? { kind: 'signed-out' } : { kind: 'failed', failure };
  }
}

/** Ends the session of this browser. */
export async function signOut(): Promise<void> {
  await call('POST', '/v1/logout');
  otherTabs?.postMessage(null);
  forgetAll();
  identity.value = { kind: 'signed-out' };
}

/** Whether the key has a scope: what it lacks is not offered. */
export function may(scope: Me['key']['scopes'][number]): boolean {
  return identity.value.kind === 'signed-in' && identity.value.me.key.scopes.includes(scope);
}

whenSignedOut(() => {
  const now = identity.value;
  if (now.kind === 'signed-in' && isWriting()) {
    if (!now.hasEnded) identity.value = { ...now, hasEnded: true };
    return;
  }
  forgetAll();
  identity.value = { kind: 'signed-out' };
});
