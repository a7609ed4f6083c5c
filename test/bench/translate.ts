/**
 * `npm run bench translate`: the CPU that an event of a streamed answer costs, translated from Anthropic's dialect and
 * into it, beside the same bytes cut at their events, alone and looked at for [DONE] and usage, as the relay does with a
 * stream of the caller's own dialect. One event comes in a chunk, as providers send them, or many, as a slow network
 * gathers them.
 */

import { isDoneFrame } from '../../gateway/endpoints/end-of-stream.ts';
import { isNote, isUsageFrame, SseSplitter } from '../../gateway/response/sse-splitter.ts';
import { TRANSLATIONS } from '../../gateway/translations/mod.ts';
import type { StreamTranslator } from '../../gateway/translations/stream-translator.ts';
import { describeMachine } from './machine.ts';
import { prose } from './prose.ts';
import { formatTable, median } from './table.ts';

const EVENTS = 1_000;
const RUNS = 100;
const ROUNDS = 5;
const CHARACTERS_AN_EVENT = 20;
const MAX_EVENT_BYTES = 64 * 1024 * 1024;
const OPTIONS = { created: 1_700_000_000, label: 'OPENAI', maxEventBytes: MAX_EVENT_BYTES };

const WORDS = Array.from({ length: EVENTS }, (_, index) =>
  prose((index + 1) * CHARACTERS_AN_EVENT).slice(index * CHARACTERS_AN_EVENT),
);

function event(data: { type: string } & Record<string, unknown>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function messageEvents(): string[] {
  const usage = {
    input_tokens: 25,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    output_tokens: 1,
  };
  const message = { id: 'msg_01XFDUDYJgAACzvnptvVoYEL', type: 'message', role: 'assistant', content: [] };
  return [
    event({ type: 'message_start', message: { ...message, model: 'claude-sonnet-4-5-20250929', usage } }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...WORDS.map((text) =>
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ),
    event({ type: 'content_block_stop', index: 0 }),
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: EVENTS } }),
    event({ type: 'message_stop' }),
  ];
}

function fromAnthropic(): StreamTranslator {
  return TRANSLATIONS['chat by messages'].stream(OPTIONS);
}

function fromOpenAi(): StreamTranslator {
  return TRANSLATIONS['messages by chat'].stream(OPTIONS);
}

/** The events of OpenAI's Responses, with the fields that a text's have. */
function responseEvents(): string[] {
  const response = {
    id: 'resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b',
    model: 'gpt-5.6',
    output: [],
  };
  const place = { item_id: 'msg_68af4033592c81938ec0a5fbab4a3e9f', output_index: 0, content_index: 0 };
  const usage = { input_tokens: 25, output_tokens: EVENTS };
  const texts = WORDS.map((delta, index) => ({
    type: 'response.output_text.delta',
    sequence_number: index + 4,
    ...place,
    delta,
    logprobs: [],
    obfuscation: 'x'.repeat(1 + (index % 9)),
  }));
  return [
    event({ type: 'response.created', sequence_number: 0, response }),
    ...texts.map(event),
    event({ type: 'response.completed', response: { ...response, status: 'completed', usage } }),
  ];
}

function fromResponses(): StreamTranslator {
  return TRANSLATIONS['messages by responses'].stream(OPTIONS);
}

function splitter(): SseSplitter {
  return new SseSplitter(MAX_EVENT_BYTES);
}

function chunks(): string[] {
  const translator = fromAnthropic();
  return messageEvents().flatMap((frame) => translator.push(Buffer.from(frame)).map(String));
}

/** As OpenAI sends chunks unless asked not to. */
function padded(frame: string, index: number): string {
  return frame.replace(/}\n\n$/, `,"obfuscation":"${'x'.repeat(1 + (index % 9))}"}\n\n`);
}

type Sink = { push(chunk: Buffer): Buffer[] };

/** What the relay does with each chunk of a stream that needs no translation. */
class PassThrough {
  readonly #splitter = splitter();

  push(chunk: Buffer): Buffer[] {
    return this.#splitter
      .push(chunk)
      .filter((frame) => !isNote(frame) && !isUsageFrame(frame) && !isDoneFrame(frame));
  }
}

/** Microseconds of CPU for an event. */
function measure(input: Buffer[], make: () => Sink): number {
  const run = (): number => {
    const sink = make();
    let bytes = 0;
    for (const chunk of input) for (const frame of sink.push(chunk)) bytes += frame.length;
    return bytes;
  };
  for (let warmUp = 0; warmUp < 50; warmUp += 1) run();
  const cpu = process.cpuUsage();
  for (let index = 0; index < RUNS; index += 1) run();
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / RUNS / EVENTS;
}

function gather(frames: string[], many: number): Buffer[] {
  return Array.from({ length: Math.ceil(frames.length / many) }, (_, index) =>
    Buffer.from(frames.slice(index * many, (index + 1) * many).join('')),
  );
}

/** Runs the benchmark; it takes no arguments. */
export async function run(): Promise<void> {
  const directions: [string, string[], () => Sink][] = [
    ['Anthropic to OpenAI', messageEvents(), fromAnthropic],
    ['OpenAI to Anthropic', chunks(), fromOpenAi],
    ['… with its padding', chunks().map(padded), fromOpenAi],
    ['Responses to Anthropic', responseEvents(), fromResponses],
  ];
  const rows = directions.flatMap(([name, frames, make]) =>
    [1, 10].map((many) => {
      const input = gather(frames, many);
      const sinks = [splitter, () => new PassThrough(), make];
      const figures: number[][] = sinks.map(() => []);
      // By turns, so that what else the machine does falls on all.
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [index, sink] of sinks.entries()) figures[index]!.push(measure(input, sink));
      }
      const [cut, passed, translated] = figures.map(median) as [number, number, number];
      const cells = [cut, passed, translated, translated / cut, translated / passed];
      return [name, String(many), ...cells.map((value) => value.toFixed(2))];
    }),
  );
  const head = [
    'direction',
    'events a chunk',
    'cut, CPU µs',
    'passed through',
    'translated',
    'to cut',
    'to passed',
  ];
  process.stdout.write(`\n${describeMachine()}\n${EVENTS} events\n\n${formatTable([head, ...rows])}\n`);
}
