/**
 * Edits top-level members of a JSON object without touching any other byte. The gateway changes a model name or asks for
 * usage this way, and still passes on unknown fields, their order, their spacing and numbers that no double holds.
 */

import { isSpace } from './json-bytes.ts';
import { scanMembers } from './scan-members.ts';
import type { MemberSpan, ScannedMembers } from './scanned-members.ts';

/** A change of all members of a name, which must be one of the scanned names. */
export type MemberChange =
  /** Gives each member this value; appends the member when there is none. */
  | { kind: 'set'; name: string; value: unknown }
  /** Sets a member of each member's object in the same way; a value that is no object becomes one. */
  | { kind: 'set inner'; name: string; inner: string; value: unknown }
  /**
   * Puts items, JSON text of one or more joined by commas, before those of each member's array; appends the member when there
   * is none. A value that is no array becomes the last item, between the two texts of `wrap`.
   */
  | { kind: 'prepend'; name: string; items: string; wrap: readonly [string, string] }
  /** Appends the member with a value that is JSON text, when there is none of its name. */
  | { kind: 'add'; name: string; json: string }
  /** Removes each member, with one comma. */
  | { kind: 'drop'; name: string };

type Edit = { from: number; to: number; bytes: Buffer };

const NOTHING = Buffer.alloc(0);
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Changes members of an object. Returns the pieces of the result, most of which are views into `bytes`.
 *
 * @param scanned the result of scanning `bytes` for all names in `changes`
 * @param changes at most one for each name; names are ASCII
 */
export function editMembers(
  bytes: Buffer,
  scanned: ScannedMembers,
  changes: readonly MemberChange[],
): Buffer[] {
  const dropped = changes.flatMap(({ kind, name }) => (kind === 'drop' ? spansOf(scanned, name) : []));
  // Together, in their order: the members of several names may be neighbours at the end of the object.
  const edits = withoutMembers(dropped.toSorted((a, b) => a.from - b.from));
  let count = scanned.count - dropped.length;
  for (const change of changes) {
    if (change.kind === 'drop') continue;
    const spans = spansOf(scanned, change.name);
    for (const span of spans) edits.push(...editsOf(bytes, change, span));
    if (spans.length > 0) continue;
    const member = `${count > 0 ? ',' : ''}"${change.name}":${valueToAppend(change)}`;
    edits.push({ from: scanned.closesAt, to: scanned.closesAt, bytes: Buffer.from(member) });
    count += 1;
  }
  return apply(bytes, edits);
}

/**
 * Adds a member at the end of an object. Returns the pieces of the result, most of which are views into `bytes`.
 *
 * @param bytes valid JSON of an object that has at least one member, and none of this name
 * @param name an ASCII name
 */
export function appendMember(bytes: Buffer, name: string, value: unknown): Buffer[] {
  const closesAt = bytes.lastIndexOf(CLOSE_BRACE);
  const member = Buffer.from(`,"${name}":${JSON.stringify(value)}`);
  return [bytes.subarray(0, closesAt), member, bytes.subarray(closesAt)];
}

function spansOf({ spans }: ScannedMembers, name: string): readonly MemberSpan[] {
  const found = spans.get(name);
  if (found === undefined) throw new Error(`The member ${name} was not scanned for`);
  return found;
}

type KeptChange = Exclude<MemberChange, { kind: 'drop' }>;

/** Returns the edits that change a member. */
function editsOf(bytes: Buffer, change: KeptChange, { start, end }: MemberSpan): Edit[] {
  switch (change.kind) {
    case 'add':
      return [];
    case 'set':
      return [{ from: start, to: end, bytes: Buffer.from(JSON.stringify(change.value)) }];
    case 'prepend':
      return prepended(bytes, change, start, end);
    default:
      if (bytes[start] !== OPEN_BRACE)
        return [{ from: start, to: end, bytes: Buffer.from(valueToAppend(change)) }];
  }
  const { inner: name, value } = change;
  const object = bytes.subarray(start, end);
  const anyNumber = Number.POSITIVE_INFINITY;
  const scanned = scanMembers(object, { names: [name], maxDepth: anyNumber, maxRepeats: anyNumber });
  const edited = editMembers(object, scanned, [{ kind: 'set', name, value }]);
  return [{ from: start, to: end, bytes: Buffer.concat(edited) }];
}

/** Returns the value of a member that is appended. */
function valueToAppend(change: KeptChange): string {
  switch (change.kind) {
    case 'add':
      return change.json;
    case 'set':
      return JSON.stringify(change.value);
    case 'prepend':
      return `[${change.items}]`;
    default:
      return `{"${change.inner}":${JSON.stringify(change.value)}}`;
  }
}

function prepended(
  bytes: Buffer,
  { items, wrap: [before, after] }: Extract<MemberChange, { kind: 'prepend' }>,
  start: number,
  end: number,
): Edit[] {
  if (bytes[start] !== OPEN_BRACKET) {
    // One edit of the whole value: an insertion at its end would meet those of members that are dropped or appended there.
    const texts = [Buffer.from(`[${items},${before}`), bytes.subarray(start, end), Buffer.from(`${after}]`)];
    return [{ from: start, to: end, bytes: Buffer.concat(texts) }];
  }
  let first = start + 1;
  while (isSpace(bytes[first]!)) first += 1;
  const inserted = bytes[first] === CLOSE_BRACKET ? items : `${items},`;
  return [{ from: start + 1, to: start + 1, bytes: Buffer.from(inserted) }];
}

/**
 * Returns the edits that remove members. A member is removed with the comma after it; the last member of the object with
 * the comma before it, which may precede members that are removed too.
 */
function withoutMembers(spans: readonly MemberSpan[]): Edit[] {
  const edits: Edit[] = [];
  for (const [index, { from, end, commaBefore, commaAfter }] of spans.entries()) {
    if (commaAfter !== -1) {
      edits.push({ from, to: commaAfter + 1, bytes: NOTHING });
      continue;
    }
    let comma = commaBefore;
    let first = index;
    while (first > 0 && comma !== -1 && spans[first - 1]!.commaAfter === comma) {
      edits.pop();
      first -= 1;
      comma = spans[first]!.commaBefore;
    }
    edits.push({ from: comma === -1 ? spans[first]!.from : comma, to: end, bytes: NOTHING });
  }
  return edits;
}

function apply(bytes: Buffer, edits: readonly Edit[]): Buffer[] {
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const edit of edits.toSorted((a, b) => a.from - b.from)) {
    pieces.push(bytes.subarray(copied, edit.from), edit.bytes);
    copied = edit.to;
  }
  pieces.push(bytes.subarray(copied));
  return pieces;
}
