import { storableText } from '#core/contracts/storable-text.ts';

const AUTHOR = 'author ';
const KEY = 'key ';

/** The grader: `person` tells people apart; `author` is null where the API key is the person. */
export type Person = { person: string; author: string | null; keyId: string };

/** Returns the person of a call: whom it names as the author, whichever key it has, else the key. */
export function personOf(keyId: string, author: string | undefined): Person {
  if (author === undefined) return { person: `${KEY}${keyId}`, author: null, keyId };
  const name = storableText(author);
  return { person: `${AUTHOR}${name}`, author: name, keyId };
}

/** Returns whether a person is an author or a key, and which. */
export function namesOf(person: string): { author: string | null; key_id: string | null } {
  return person.startsWith(AUTHOR)
    ? { author: person.slice(AUTHOR.length), key_id: null }
    : { author: null, key_id: person.slice(KEY.length) };
}
