/**
 * Finds the calls that depend on what their provider keeps, or change it: sent again, they are other calls, so that no
 * stored response answers them.
 */
import { findMembers } from './body.ts';

/**
 * A `conversation` of Responses goes on with each of them, a `thread` of Messages can be continued once from each message, and
 * a call in the `background` is answered later.
 */
const NAMES = ['conversation', 'thread', 'background'];
/** Values that ask for none of it. */
const WITHOUT = new Set(['null', 'false']);

/**
 * Returns whether a body is of such a call. A name that is written with escapes is not found.
 * @param bytes JSON of an object
 * @throws AssayError invalid_body when one of the members is repeated too often
 */
export async function usesKeptState(bytes: Buffer): Promise<boolean> {
  // A search of bytes is quick; the names are in few bodies, and then mostly in a text.
  const names = NAMES.filter((name) => bytes.includes(`"${name}"`));
  if (names.length === 0) return false;
  const { spans } = await findMembers(bytes, names);
  return [...spans.values()].some((members) => {
    const last = members.at(-1);
    return last !== undefined && !WITHOUT.has(bytes.toString('latin1', last.start, last.end));
  });
}
