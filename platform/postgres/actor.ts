/**
 * The author of a call's changes, for the audit log. It is kept beside the call instead of being passed through every service,
 * so that a service which knows nothing of it cannot leave it out.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

type Noted = { actor: string | null };

const calls = new AsyncLocalStorage<Noted>();

/** Runs a call. What `noteActor` notes during it holds for everything that the call awaits, and for no other call. */
export function withActor<T>(call: () => T): T {
  return calls.run({ actor: null }, call);
}

/** Notes that the call under way is made with an API key. Does nothing outside of `withActor`. */
export function noteActor(keyId: string): void {
  const noted = calls.getStore();
  if (noted !== undefined) noted.actor = `api_key ${keyId}`;
}

/** Returns the actor of the call under way, as the setting `assay.actor` has it; null: none was noted. */
export function currentActor(): string | null {
  return calls.getStore()?.actor ?? null;
}
