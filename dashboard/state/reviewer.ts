/** Whom a grade of this browser is by: the name that people gave themselves, else the key that is logged in. */
import { identity } from './me.ts';
import { preferences } from './preferences.ts';

/** A grade, a skip or a line of progress: `author` null means that the key is the person. */
export type Authored = { author: string | null; key_id: string | null };

/** Returns the member of a call that names the person; without one the API takes the key. */
export function authorOf(): { author?: string } {
  const { reviewer } = preferences.value;
  return reviewer === '' ? {} : { author: reviewer };
}

/** Returns the id of the key that is logged in; null: nobody is. */
function ownKeyId(): string | null {
  return identity.value.kind === 'signed-in' ? identity.value.me.key.id : null;
}

/** Returns whether something is by the person who grades here. */
export function isOwn({ author, key_id: keyId }: Authored): boolean {
  const { reviewer } = preferences.value;
  return reviewer === '' ? author === null && keyId === ownKeyId() : author === reviewer;
}

/** Names the person, for what is kept of them on the page. */
export function personKey(): string {
  const { reviewer } = preferences.value;
  return reviewer === '' ? `key ${ownKeyId()}` : `author ${reviewer}`;
}
