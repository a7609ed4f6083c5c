/** Streams as bytes, in every way that an event stream may be written. Texts have a character for each byte. */
import fc from 'fast-check';
import { bytesOf, rawValue } from './json-text.ts';
import type { Told } from './told-streams.ts';

/** How an event is written. */
type Style = {
  lineEnd: '\n' | '\r\n';
  /** Between a field's colon and its value. */
  gap: '' | ' ';
  json: 'compact' | 'spaced' | 'lines';
  /** Lines before the event's own, which mean nothing to it. */
  before: string[];
  /** Frames before the event's. */
  others: string[];
  /** The value of a member that nobody knows. */
  unknown: string | null;
};

/** A frame with the blank line that ends it. */
export type Frame = Pick<Told, 'isUsage' | 'isFinish' | 'isLast'> & { text: string };

const OTHER_LINES = [': ping', ':', 'id: 7', 'retry: 3000', `: ${bytesOf('é 漢 🚀')}`, ': \xff\xc3'];

const otherLines = fc.oneof(
  fc.constant<string[]>([]),
  fc.array(fc.constantFrom(...OTHER_LINES), { maxLength: 2 }),
);

const style: fc.Arbitrary<Style> = fc.record({
  lineEnd: fc.constantFrom('\n', '\n', '\r\n'),
  gap: fc.constantFrom(' ', ' ', ''),
  json: fc.constantFrom('compact', 'compact', 'spaced', 'lines'),
  before: otherLines,
  others: otherLines,
  unknown: fc.option(rawValue, { freq: 4, nil: null }),
});

/** As providers write: nothing but the event, in compact JSON. */
export const PLAIN: Style = {
  lineEnd: '\n',
  gap: ' ',
  json: 'compact',
  before: [],
  others: [],
  unknown: null,
};

/** A style for each event in turn. */
export const styles = fc.array(style, { minLength: 1, maxLength: 5 });

function jsonOf(data: Told['data'], { json, unknown }: Style): string {
  if (data === '[DONE]') return data;
  const text = bytesOf(JSON.stringify(data, null, json === 'compact' ? 0 : 1));
  const written = json === 'spaced' ? text.replace(/\n */g, ' ') : text;
  return unknown === null ? written : `${written.slice(0, -1)},"x_unknown":${unknown}}`;
}

/** Writes events, each in the style whose turn it is. */
export function writeStream(events: readonly Told[], each: readonly Style[]): Frame[] {
  return events.flatMap(({ name, data, ...marks }, index) => {
    const turn = each[index % each.length]!;
    // The last event is one that is known by its first bytes.
    const style = marks.isLast ? { ...turn, json: 'compact' as const, unknown: null } : turn;
    const { lineEnd, gap, before, others } = style;
    const lines = [
      ...before,
      ...(name === null ? [] : [`event:${gap}${name}`]),
      ...jsonOf(data, style)
        .split(/\r?\n/)
        .map((line) => `data:${gap}${line}`),
    ];
    const frame = lines.map((line) => line + lineEnd).join('') + lineEnd;
    return [...others.map((line) => ({ text: line + lineEnd + lineEnd })), { text: frame, ...marks }];
  });
}

/** The bytes of frames. */
export function bytesOfFrames(frames: readonly Frame[]): Buffer {
  return Buffer.from(frames.map(({ text }) => text).join(''), 'latin1');
}
