/** The answer that a logged request should have had. */
import { JsonFault, scanMembers, withoutSpace } from '../json/mod.ts';
import { invalidField } from './invalid.ts';

/** Bytes of an expected answer as JSON: it stands in the record's row, and in the head of its log entry. */
const MAX_BYTES = 64 * 1024;
/** Levels of objects and arrays, as of inputs. */
const MAX_DEPTH = 512;

/**
 * Reads an expected answer as it is stored: JSON without the space between tokens; null where it is null, which names none.
 * @param json valid JSON in UTF-8
 * @throws AssayError invalid_body
 */
export function readExpected(json: Buffer): string | null {
  if (json.length > MAX_BYTES)
    throw invalidField('expected', `may be at most ${MAX_BYTES} bytes long as JSON, but has ${json.length}`);
  try {
    // The scanner reads objects: an array or a text is scanned as a member of one.
    const whole = Buffer.concat([Buffer.from('{"expected":'), json, Buffer.from('}')]);
    scanMembers(whole, { names: [], maxDepth: MAX_DEPTH + 1 });
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    if (fault.reason === 'depth')
      throw invalidField('expected', `may be nested at most ${MAX_DEPTH} levels deep`);
    throw invalidField('expected', 'names a member many times in one object');
  }
  const text = withoutSpace(json.toString('utf8'));
  return text === 'null' ? null : text;
}
