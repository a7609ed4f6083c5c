/** The text of an answer while it streams in, in any of the three dialects. What else it holds is shown at its end. Pure. */
import { isObject } from '#core/json-values/mod.ts';

/** Returns the text that an event adds. */
function textOf(event: unknown): string {
  if (!isObject(event)) return '';
  const { type, delta, choices } = event;
  if (type === 'response.output_text.delta' && typeof delta === 'string') return delta;
  if (type === 'content_block_delta' && isObject(delta))
    return typeof delta.text === 'string' ? delta.text : '';
  const [choice] = Array.isArray(choices) ? (choices as unknown[]) : [];
  if (!isObject(choice) || !isObject(choice.delta)) return '';
  return typeof choice.delta.content === 'string' ? choice.delta.content : '';
}

function dataOf(frame: string): string {
  return frame
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(line[5] === ' ' ? 6 : 5))
    .join('\n');
}

/** Reads an event stream piece by piece. */
export class LiveText {
  #rest = '';

  /** Returns the text that a piece of the stream adds, wherever it was cut. */
  take(piece: string): string {
    const frames = (this.#rest + piece).split(/\r\n\r\n|\n\n|\r\r(?!\n)/);
    this.#rest = frames.pop()!;
    return frames.map((frame) => this.#read(dataOf(frame))).join('');
  }

  #read(data: string): string {
    if (!data.startsWith('{')) return '';
    try {
      return textOf(JSON.parse(data));
    } catch {
      return '';
    }
  }
}
