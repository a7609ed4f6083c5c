/**
 * Finds images, audio and files in a request body, which are far fewer tokens than their bytes: an estimate by all bytes would
 * be hundreds of times the cost, and hold back other calls of the same limit.
 */

/** The media in a body. */
export type Media = {
  /** Their number. */
  count: number;
  /** Their length in the body, in base64. */
  bytes: number;
};

const NO_MEDIA: Media = { count: 0, bytes: 0 };

/** A body of less is estimated by its bytes. */
const SMALLEST_BODY_BYTES = 8 * 1024;
/** Shorter ones count as text. */
const SMALLEST_MEDIA_BYTES = 2 * 1024;
/** Text that is searched for each marker, in some milliseconds: more than models take. What comes behind it counts as text. */
const MOST_TEXT_BYTES = 2 * 1024 * 1024;
/** Places that are looked at, of each marker. No body has more than some hundreds. */
const MOST_PLACES = 2_000;
/** Bytes of the beginning that must be base64: text under the same names is estimated as text. */
const SAMPLE_BYTES = 256;

/** The text before the data: in OpenAI's URLs, and in the sources of Anthropic's and OpenAI's audio. */
const MARKERS = [Buffer.from(';base64,'), Buffer.from('"data":"'), Buffer.from('"data": "')];
const QUOTE = 0x22;

/** Returns the media in a request body. */
export function mediaIn(body: Buffer): Media {
  if (body.length < SMALLEST_BODY_BYTES) return NO_MEDIA;
  let [count, bytes] = [0, 0];
  for (const marker of MARKERS) {
    let from = 0;
    let textLeft = MOST_TEXT_BYTES;
    for (let places = 0; places < MOST_PLACES && textLeft > 0; places += 1) {
      const at = body.subarray(from, from + textLeft).indexOf(marker);
      if (at === -1) break;
      const start = from + at + marker.length;
      const end = body.indexOf(QUOTE, start);
      if (end === -1) break;
      const isMedium = end - start >= SMALLEST_MEDIA_BYTES && isBase64(body, start);
      if (isMedium) {
        count += 1;
        bytes += end - start;
      }
      textLeft -= isMedium ? start - from : end - from;
      // Behind the string: a marker in the rest of it would be looked at again and again up to the same end.
      from = end;
    }
  }
  return { count, bytes };
}

function isBase64(body: Buffer, start: number): boolean {
  return /^[\w+/=-]*$/.test(body.toString('latin1', start, start + SAMPLE_BYTES));
}
