/**
 * Edits top-level members of a JSON object without touching any other byte. The gateway changes a model name or asks for
 * usage this way, and still passes on unknown fields, their order, their spacing and numbers that no double holds.
 */

import { scanMembers } from './scan-members.ts';
import type { MemberSpan, ScannedMembers } from './scanned-members.ts';

/** A change of all members of a name, which must be one of the scanned names. */
export type MemberChange =
  /** Gives each member this value; appends the member when there is none. */
  | { kind: 'set'; name: string; value: unknown }
  /** Sets a member of each member's object in the same way; a value that is no object becomes one. */
  | { kind: 'set inner'; name: string; inner: string; value: unknown }
  /** Removes each member, with one comma. */
  | { kind: 'drop'; name: string };

type Edit = { from: number; to: number; bytes: Buffer };

const NOTHING = Buffer.alloc(0);
const [OPEN_BRACE, CLOSE_BRACE] = [0x7b, 0x7d];

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
  const edits: Edit[] = [];
  let { count } = scanned;
  for (const { kind, name } of changes) {
    const spans = spansOf(scanned, name);
    if (kind !== 'drop' || spans.length === 0) continue;
    edits.push(...withoutMembers(spans));
    count -= spans.length;
  }
  for (const change of changes) {
    if (change.kind === 'drop') continue;
    const spans = spansOf(scanned, change.name);
    for (const { start, end } of spans) {
      edits.push({ from: start, to: end, bytes: Buffer.from(changed(bytes, change, start, end)) });
    }
    if (spans.length > 0) continue;
    const member = `${count > 0 ? ',' : ''}"${change.name}":${changed(bytes, change, 0, 0)}`;
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

/** Returns the new value of a member whose value is in `[start, end)`; both are the same for a member that is absent. */
function changed(
  bytes: Buffer,
  change: Exclude<MemberChange, { kind: 'drop' }>,
  start: number,
  end: number,
): string | Buffer {
  const json = JSON.stringify(change.value);
  if (change.kind === 'set') return json;
  if (start === end || bytes[start] !== OPEN_BRACE) return `{"${change.inner}":${json}}`;
  const object = bytes.subarray(start, end);
  const scanned = scanMembers(object, { names: [change.inner], maxDepth: Number.POSITIVE_INFINITY });
  return Buffer.concat(
    editMembers(object, scanned, [{ kind: 'set', name: change.inner, value: change.value }]),
  );
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
