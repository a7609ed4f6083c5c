/**
 * Parses a large body without the members that are logged unchanged: the rest is small. Those members are not parsed,
 * however large they are.
 */
import { AssayError } from '#core/contracts/errors.ts';
import {
  JsonFault,
  MAX_BODY_DEPTH,
  type MemberPath,
  type ScannedMembers,
  type ScanOptions,
} from '#core/json/mod.ts';
import { joinBytesInTurns, scanMembersInTurns } from '#platform/process/turns.ts';

/** Enough for a hundred properties of the greatest allowed length. */
const MAX_REST_BYTES = 8 * 1024 * 1024;

/** The stand-in for a value, by its first byte: the schema checks its kind. */
const STAND_INS = new Map([
  [0x7b, Buffer.from('{}')],
  [0x5b, Buffer.from('[]')],
  [0x22, Buffer.from('""')],
]);

export type Outline = {
  /** The body's JSON with stand-ins for the requested members. */
  rest: Buffer;
  /** Views into the body; null where there is none. */
  written: (Buffer | null)[];
};

type Range = { start: number; end: number };

/**
 * @param paths each of one name or two
 * @param maxValues maximum values of the rest
 * @throws AssayError invalid_json, invalid_body, body_too_large
 */
export async function outlineJson(
  bytes: Buffer,
  paths: readonly MemberPath[],
  maxValues: number,
): Promise<Outline> {
  const outer = await scan(bytes, { names: paths.map(([name]) => name!), maxDepth: MAX_BODY_DEPTH });
  const found: (Range | null)[] = [];
  for (const [name, inner] of paths) found.push(await memberAt(bytes, outer, name!, inner));
  const rest = await joinBytesInTurns(withStandIns(bytes, found));
  if (rest.length > MAX_REST_BYTES)
    throw new AssayError(
      'body_too_large',
      `The body without ${paths.map((path) => path.join('.')).join(', ')} is larger than the ${MAX_REST_BYTES} bytes allowed`,
    );
  const { values } = paths.length === 0 ? outer : await scan(rest, { names: [], maxDepth: MAX_BODY_DEPTH });
  if (values > maxValues)
    throw new AssayError(
      'invalid_body',
      `The body holds ${values} values, of which at most ${maxValues} are allowed`,
    );
  return {
    rest,
    written: found.map((range) => (range === null ? null : bytes.subarray(range.start, range.end))),
  };
}

async function scan(bytes: Buffer, options: ScanOptions): Promise<ScannedMembers> {
  try {
    return await scanMembersInTurns(bytes, options);
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    if (fault.reason === 'depth')
      throw new AssayError('invalid_body', `The body is nested deeper than ${MAX_BODY_DEPTH} levels`);
    if (fault.reason === 'repeats')
      throw new AssayError('invalid_json', 'The body names a member many times in one object');
    const where =
      fault.at === null ? `: it ends too early, at byte ${bytes.length}` : `, from byte ${fault.at} on`;
    throw new AssayError('invalid_json', `The body is not valid JSON${where}`);
  }
}

/** Finds a member. The last of a repeated name counts; the others stay in the rest, where they are refused. */
async function memberAt(
  bytes: Buffer,
  outer: ScannedMembers,
  name: string,
  inner: string | undefined,
): Promise<Range | null> {
  const object = outer.spans.get(name)!.at(-1);
  if (object === undefined || inner === undefined) return object ?? null;
  const options = { names: [inner], maxDepth: MAX_BODY_DEPTH, from: object.start, to: object.end };
  const scanned = await scan(bytes, options);
  return (scanned.isObject ? scanned.spans.get(inner)!.at(-1) : undefined) ?? null;
}

function withStandIns(bytes: Buffer, ranges: readonly (Range | null)[]): Buffer[] {
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const range of ranges.toSorted((a, b) => (a?.start ?? 0) - (b?.start ?? 0))) {
    const standIn = range === null ? undefined : STAND_INS.get(bytes[range.start]!);
    if (range === null || standIn === undefined) continue;
    pieces.push(bytes.subarray(copied, range.start), standIn);
    copied = range.end;
  }
  pieces.push(bytes.subarray(copied));
  return pieces;
}
