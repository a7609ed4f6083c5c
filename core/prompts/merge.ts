/** Joins an expanded prompt with the body of a call. */
import { AssayError } from '../contracts/errors.ts';
import { editMembers, type MemberChange, type ScannedMembers } from '../json/mod.ts';
import type { ExpandedMembers } from './expand.ts';
import { PROMPT_FIELDS } from './template.ts';

/** A member of a body whose items are joined, the prompt's first; of all other members the call's win. */
export type ListMember = {
  readonly name: string;
  /** Texts around a string that stands for a list with one item; null: only arrays are lists. */
  readonly wrap: readonly [string, string] | null;
};

/** Returns the names of the members that must be found in a call's body before it is merged. */
export function namesToScan(members: ExpandedMembers): string[] {
  return [...PROMPT_FIELDS, ...members.keys()];
}

/**
 * Merges an expanded prompt with the body of a call: the items of the prompt's lists come first, then the call's; of all
 * other members the call's win. The fields that name the prompt are removed; every other byte of the call stays as it is.
 * @param scanned the result of scanning `bytes`, JSON of an object, for `namesToScan`
 * @param maxBytes the largest merged body
 * @returns the pieces of the merged body, most of which are views into `bytes`
 * @throws AssayError invalid_body when a list to join is no list; body_too_large
 */
export function mergePrompt(
  bytes: Buffer,
  scanned: ScannedMembers,
  members: ExpandedMembers,
  lists: readonly ListMember[],
  maxBytes: number,
): Buffer[] {
  const changes: MemberChange[] = PROMPT_FIELDS.map((name) => ({ kind: 'drop', name }));
  for (const [name, json] of members) {
    const list = lists.find((joined) => joined.name === name);
    const isJoined = list !== undefined && scanned.spans.get(name)!.length > 0;
    if (list !== undefined) checkList(json, list, `${name} of the stored prompt`);
    const change = isJoined ? join(bytes, scanned, json, list) : null;
    // Before anything is made: a call may repeat a list a hundred times, and each gets all items of the prompt.
    if (change?.kind === 'prepend')
      checkSize(scanned.spans.get(name)!.length * Buffer.byteLength(change.items), maxBytes);
    changes.push(change ?? { kind: 'add', name, json });
  }
  const pieces = editMembers(bytes, scanned, changes);
  checkSize(
    pieces.reduce((sum, { length }) => sum + length, 0),
    maxBytes,
  );
  return pieces;
}

function checkSize(bytes: number, maxBytes: number): void {
  if (bytes <= maxBytes) return;
  throw new AssayError(
    'body_too_large',
    `The request body with its stored prompt has at least ${bytes} bytes; at most ${maxBytes} are allowed`,
  );
}

function join(bytes: Buffer, scanned: ScannedMembers, json: string, list: ListMember): MemberChange {
  const { name } = list;
  for (const { start, end } of scanned.spans.get(name)!)
    checkList(bytes.toString('latin1', start, Math.min(start + 1, end)), list, name);
  const wrap = list.wrap ?? NO_WRAP;
  const items = json.startsWith('[') ? json.slice(1, -1) : wrap.join(json);
  return items === '' ? { kind: 'add', name, json } : { kind: 'prepend', name, items, wrap };
}

const NO_WRAP = ['', ''] as const;

/** @param json the value, or its first character */
function checkList(json: string, { wrap }: ListMember, where: string): void {
  if (json.startsWith('[') || (wrap !== null && json.startsWith('"'))) return;
  const allowed = wrap === null ? 'an array' : 'an array or a string';
  throw new AssayError(
    'invalid_body',
    `${where} must be ${allowed}, for the stored prompt's to be joined with the call's`,
  );
}
