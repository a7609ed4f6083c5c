/** A packed body, unpacked to learn what it is: off the event loop, and no more of it than is needed. */
import { decodeContent } from '#platform/http-message/mod.ts';
import { createDecoder } from './decode.ts';
import { TextEnds } from './text-ends.ts';

export type Unpacked = {
  /** The first bytes, up to `keptBytes`. */
  beginning: Buffer;
  ends: TextEnds;
  /**
   * `whole`: the body fits its encoding to the end. `torn`: it does not, or breaks off. `long`: more than `maxBytes` would
   * come out, and the rest was not unpacked.
   */
  state: 'whole' | 'torn' | 'long';
};

export type UnpackLimits = { keptBytes: number; maxBytes: number };

/**
 * Up to this size a body is unpacked at once, if little comes out: that takes 20–40 µs of CPU for an answer of 4 KB and
 * less, of which most is the decoder's making; a stream, which needs threads of its own, takes 60–110.
 */
const SMALL_PACKED_BYTES = 4 * 1024;
const SMALL_BYTES = 64 * 1024;

/** Unpacks a body. Never rejects. `encoding` must be one that `canDecode`. */
export function unpack(packed: Buffer, encoding: string, limits: UnpackLimits): Promise<Unpacked> {
  const small = packed.length <= SMALL_PACKED_BYTES ? unpackSmall(packed, encoding, limits) : null;
  return small === null ? unpackStream(packed, encoding, limits) : Promise.resolve(small);
}

/** Null: much comes out, or it is torn, and the stream can tell how far it goes. */
function unpackSmall(packed: Buffer, encoding: string, { keptBytes, maxBytes }: UnpackLimits) {
  try {
    const bytes = decodeContent(packed, encoding, Math.min(SMALL_BYTES, maxBytes));
    const ends = new TextEnds();
    ends.push(bytes);
    return { beginning: bytes.subarray(0, keptBytes), ends, state: 'whole' as const };
  } catch {
    return null;
  }
}

function unpackStream(
  packed: Buffer,
  encoding: string,
  { keptBytes, maxBytes }: UnpackLimits,
): Promise<Unpacked> {
  return new Promise((resolve) => {
    const kept: Buffer[] = [];
    const ends = new TextEnds();
    let size = 0;
    const settle = (state: Unpacked['state']) => resolve({ beginning: Buffer.concat(kept), ends, state });
    const decoder = createDecoder(encoding);
    decoder.on('data', (chunk: Buffer) => {
      if (size < keptBytes) kept.push(chunk.subarray(0, keptBytes - size));
      size += chunk.length;
      if (size <= maxBytes) {
        ends.push(chunk);
        return;
      }
      decoder.destroy();
      settle('long');
    });
    decoder.once('end', () => settle('whole'));
    decoder.on('error', () => settle('torn'));
    decoder.end(packed);
  });
}
