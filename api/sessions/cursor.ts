/** Cursors: the place of the last request of a page. */
import { Buffer } from 'node:buffer';
import { invalidField } from '#core/contracts/invalid.ts';
import type { PageParameters } from '#core/contracts/session.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { parseTimestamp } from '#core/filter/mod.ts';

/** The place of a request in its session. */
export type Place = { created_at: Date; request_id: string };

/** A page to read. */
export type Page = { after: Place | null; limit: number };

/** Returns an opaque text for a place. */
export function cursorOf({ created_at, request_id }: Place): string {
  return Buffer.from(JSON.stringify([created_at.toISOString(), request_id])).toString('base64url');
}

/**
 * Returns the page that parameters ask for.
 * @throws AssayError invalid_body for an invalid cursor, or a limit that is too large
 */
export function readPage({ after, limit }: PageParameters, most: number, usual: number): Page {
  const count = limit === undefined ? usual : Number(limit);
  if (count > most) throw invalidField('limit', `must be at most ${most}, but is ${limit}`);
  return { after: after === undefined ? null : readCursor(after), limit: count };
}

function readCursor(text: string): Place {
  try {
    const [at, id] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown[];
    const ms = typeof at === 'string' ? parseTimestamp(at) : null;
    if (ms !== null && typeof id === 'string')
      return { created_at: new Date(ms), request_id: storableText(id) };
  } catch {
    // The cursor is not JSON, or not a list.
  }
  throw invalidField('after', 'must be the `next` of an answer of this path');
}
