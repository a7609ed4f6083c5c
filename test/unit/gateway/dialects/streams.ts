/** Streams of fixtures and of tests' own events, put through a translator in chunks of any cut. */
import { readFileSync } from 'node:fs';
import type { JsonObject } from '#core/json/mod.ts';
import { TRANSLATIONS } from '../../../../gateway/translations/mod.ts';
import type { StreamTranslator } from '../../../../gateway/translations/stream-translator.ts';

export const CREATED = 1_700_000_000;
/** More than any event here has. */
const MAX_EVENT_BYTES = 1024 * 1024;

/** The bytes of a fixture, its line ends as named. */
export function fixture(name: string, lineEnd: '\n' | '\r\n' | '\r' = '\n'): Buffer {
  const text = readFileSync(
    new URL(`../../../support/fixtures/gateway/streams/${name}.sse`, import.meta.url),
    'utf8',
  );
  return Buffer.from(text.replaceAll('\n', lineEnd));
}

export function fromAnthropic(maxEventBytes = MAX_EVENT_BYTES): StreamTranslator {
  return TRANSLATIONS['chat by messages'].stream({ created: CREATED, label: 'ANTHROPIC', maxEventBytes });
}

export function fromOpenAi(maxEventBytes = MAX_EVENT_BYTES): StreamTranslator {
  return TRANSLATIONS['messages by chat'].stream({ created: CREATED, label: 'OPENAI', maxEventBytes });
}

/** Everything that comes out when `bytes` go in, cut at `places`. */
export function translateCut(make: () => StreamTranslator, bytes: Buffer, places: readonly number[]): string {
  const translator = make();
  const ends = [...new Set(places)].sort((a, b) => a - b).concat(bytes.length);
  const out: Buffer[] = [];
  let start = 0;
  for (const end of ends) {
    out.push(...translator.push(bytes.subarray(start, end)));
    start = end;
  }
  return Buffer.concat([...out, ...translator.end()]).toString('utf8');
}

/** The data of each event; `[DONE]` as it is. */
export function dataOf(stream: string): (JsonObject | '[DONE]')[] {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => (line === 'data: [DONE]' ? '[DONE]' : (JSON.parse(line.slice(6)) as JsonObject)));
}

/** An Anthropic event's frame, in the very bytes of Anthropic's API. */
export function event(data: { type: string } & JsonObject): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

export function messageStart(usage: JsonObject = { input_tokens: 1, output_tokens: 1 }): string {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [],
    model: 'claude-opus-4-6',
    usage,
  };
  return event({ type: 'message_start', message });
}

export function blockStart(index: number, block: JsonObject): string {
  return event({ type: 'content_block_start', index, content_block: block });
}

export function delta(index: number, change: JsonObject): string {
  return event({ type: 'content_block_delta', index, delta: change });
}

export function blockStop(index: number): string {
  return event({ type: 'content_block_stop', index });
}

export function messageEnd(reason: string | null, usage: JsonObject = { output_tokens: 5 }): string {
  return (
    event({ type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage }) +
    event({ type: 'message_stop' })
  );
}
