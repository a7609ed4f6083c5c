import { storableText } from '#core/contracts/storable-text.ts';

/** Who grades: `person` tells people apart; `author` is null where the API key is the person. */
export type Person = { person: string; author: string | null; keyId: string };

/** Returns the person of a call: whom it names as the author, whichever key it has, else the key. */
export function personOf(keyId: string, author: string | undefined): Person {
  if (author === undefined) return { person: `key ${keyId}`, author: null, keyId };
  const name = storableText(author);
  return { person: `author ${name}`, author: name, keyId };
}
