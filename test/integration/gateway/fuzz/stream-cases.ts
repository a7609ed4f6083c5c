/** Streams in the client's own dialect that end in any way, with what must come of them, told from how they were made. */
import fc from 'fast-check';
import type { ApiEndpoint } from '../../../../gateway/endpoints/endpoint.ts';
import { endpointOf } from './relay-world.ts';
import { chat, completions, messages, responses, type Said, said, type Told } from './told-streams.ts';
import { bytesOfFrames, type Frame, styles, writeStream } from './written-streams.ts';

export type StreamCase = {
  surface: ApiEndpoint;
  said: Said;
  hidesUsage: boolean;
  /** What the provider sends, before its connection ends or breaks. */
  bytes: Buffer;
  ending: 'end' | 'cut';
  expected: Expected;
};

export type Expected = {
  /** Whole events that the client reads, in the provider's bytes. */
  bytes: Buffer;
  /** What comes behind the last whole event, when the answer is whole; else an event tells that it is not. */
  rest: Buffer;
  /** The bytes that the record has: all that came of a whole answer, and else the whole events, as the client gets no other. */
  recorded: Buffer;
  /** How much the client reads before the record is committed. */
  bytesBeforeRecord: number;
  isComplete: boolean;
};

const DIALECTS: readonly [ApiEndpoint['providerEndpoint'], (said: Said) => Told[]][] = [
  ['chat', chat],
  ['completions', completions],
  ['responses', responses],
  ['messages', messages],
];

/** Where a stream ends: behind its last byte, before its last blank line, or anywhere. */
const place = fc.oneof(
  fc.constant('end' as const),
  fc.constant('blank line' as const),
  fc.nat().map((at) => ({ at })),
);

export const streamCases: fc.Arbitrary<StreamCase> = fc
  .record({
    dialect: fc.constantFrom(...DIALECTS),
    said,
    styles,
    place,
    ending: fc.constantFrom('end' as const, 'end' as const, 'cut' as const),
    asksForUsage: fc.boolean(),
  })
  .map(({ dialect: [endpoint, tell], said, styles, place, ending, asksForUsage }) => {
    const surface = endpointOf(endpoint);
    const hidesUsage = surface.hasUsageOption && !asksForUsage;
    const frames = writeStream(tell(said), styles);
    const whole = bytesOfFrames(frames);
    const length = lengthAt(place, frames, whole.length);
    const expected = expectedOf({ frames, length, hidesUsage });
    return { surface, said, hidesUsage, bytes: whole.subarray(0, length), ending, expected };
  })
  .filter(({ bytes }) => bytes.length > 0);

function lengthAt(
  place: 'end' | 'blank line' | { at: number },
  frames: readonly Frame[],
  size: number,
): number {
  if (place === 'end' || size === 0) return size;
  if (place === 'blank line') return size - (frames.at(-1)!.text.endsWith('\r\n') ? 2 : 1);
  return place.at % (size + 1);
}

type Sent = { frames: readonly Frame[]; length: number; hidesUsage: boolean };

function expectedOf({ frames, length, hidesUsage }: Sent): Expected {
  let size = 0;
  let count = 0;
  while (count < frames.length && size + frames[count]!.text.length <= length)
    size += frames[count++]!.text.length;
  const came = frames.slice(0, count);
  const rest = frames[count]?.text.slice(0, length - size) ?? '';
  // Of an event without its blank line only its data must be there, for clients and for the record.
  const isRestWhole = count < frames.length && rest.length >= frames[count]!.text.trimEnd().length;
  const isComplete =
    came.some(({ isFinish }) => isFinish) || (isRestWhole && frames[count]!.isFinish === true);
  const isRestHidden = hidesUsage && isRestWhole && frames[count]!.isUsage === true;
  const shown = came.filter(({ isUsage }) => !(hidesUsage && isUsage));
  const last = shown.findIndex(({ isLast }) => isLast);
  return {
    bytes: bytesOfFrames(shown),
    rest: Buffer.from(isRestHidden ? '' : rest, 'latin1'),
    recorded: isComplete
      ? Buffer.concat([bytesOfFrames(came), Buffer.from(rest, 'latin1')])
      : bytesOfFrames(came),
    bytesBeforeRecord: bytesOfFrames(last === -1 ? shown : shown.slice(0, last)).length,
    isComplete,
  };
}
