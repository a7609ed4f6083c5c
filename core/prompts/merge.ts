/** Joins an expanded prompt with the body of a call. */
import { AssayError } from '../contracts/errors.ts';
import { editMembers, type MemberChange, type ScannedMembers } from '../json/mod.ts';
import type { ExpandedMembers } from './expand.ts';
import { PROMPT_FIELDS } from './template.ts';

/** The member of a body that holds the conversation, whose items are joined; all other members are the caller's or the prompt's. */
export type ListMember = {
  readonly name: string;
  /** Texts around a string that stands in place of the list; null: the list must be an array. */
  readonly wrap: readonly [string, string] | null;
};

/** The list of chat completions and of Messages. */
export const MESSAGES: ListMember = { name: 'messages', wrap: null };
/** The list of Responses, where a text alone is the user's. */
export const INPUT: ListMember = { name: 'input', wrap: ['{"role":"user","content":', '}'] };

const OPEN_BRACKET = 0x5b;
const QUOTE = 0x22;

/** Returns the names of the members that must be found in a call's body before it is merged. */
export function namesToScan(members: ExpandedMembers, list: ListMember | null): string[] {
  const names = new Set<string>([...PROMPT_FIELDS, ...members.keys()]);
  if (list !== null) names.add(list.name);
  return [...names];
}

/**
 * Merges an expanded prompt with the body of a call: the prompt's messages come first, then the call's; of all other
 * members the call's win. The fields that name the prompt are removed; every other byte of the call stays as it is.
 * @param scanned the result of scanning `bytes`, JSON of an object, for `namesToScan`
 * @returns the pieces of the merged body, most of which are views into `bytes`
 * @throws AssayError invalid_body when a list to join is no list
 */
export function mergePrompt(
  bytes: Buffer,
  scanned: ScannedMembers,
  members: ExpandedMembers,
  list: ListMember | null,
): Buffer[] {
  const changes: MemberChange[] = PROMPT_FIELDS.map((name) => ({ kind: 'drop', name }));
  for (const [name, json] of members) {
    if (name !== list?.name) changes.push({ kind: 'add', name, json });
    else changes.push(...joined(bytes, scanned, json, list));
  }
  return editMembers(bytes, scanned, changes);
}

function joined(bytes: Buffer, scanned: ScannedMembers, json: string, list: ListMember): MemberChange[] {
  const { name, wrap } = list;
  if (!json.startsWith('['))
    throw new AssayError('invalid_body', `${name} of the stored prompt must be an array`);
  const spans = scanned.spans.get(name) ?? [];
  for (const { start } of spans) {
    const first = bytes[start];
    if (first === OPEN_BRACKET || (first === QUOTE && wrap !== null)) continue;
    const allowed = wrap === null ? 'an array' : 'an array or a string';
    throw new AssayError('invalid_body', `${name} must be ${allowed}, to follow the stored prompt's`);
  }
  const items = json.slice(1, -1);
  if (items === '') return spans.length > 0 ? [] : [{ kind: 'add', name, json }];
  return [{ kind: 'prepend', name, items, wrap: wrap ?? ['', ''] }];
}
