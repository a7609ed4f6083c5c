import type { JsonObject } from '#core/json/mod.ts';
import { NOTE_HEAD } from '../../response/sse-splitter.ts';
import type { EventWriter, Stop, StreamedEvent, ThinkingPart, TokenUsage } from '../conversation.ts';
import { type RawDelta, writeRawDelta } from '../raw-delta.ts';
import { writeCompletionUsage } from './usage.ts';
import { nativeStop, writeThinkingBlock } from './write-completion.ts';

const TEXT_TAIL = '},"finish_reason":null}]}\n\n';
const ARGUMENTS_TAIL = `}}]${TEXT_TAIL}`;
const TEXT_TAIL_BYTES = Buffer.from(TEXT_TAIL);
const ARGUMENTS_TAIL_BYTES = Buffer.from(ARGUMENTS_TAIL);

/** Characters of an id and of a model's name, which each chunk repeats: a provider may send megabytes. */
const MAX_NAME = 256;

/** Writes the chunks of a streamed chat completion. */
export class ChunkWriter implements EventWriter {
  readonly #created: number;
  /** The frame of a chunk up to its choices. */
  #head = '';
  /** The frame of a chunk up to its delta's first member. */
  #delta = '';
  /** The frame of a chunk up to the text of its content. */
  #textHead = Buffer.alloc(0);
  /** The frame of a chunk up to the arguments of one call. */
  #argumentsHead = { call: -1, bytes: Buffer.alloc(0) };
  #hasRole = false;
  readonly #thinking: ThinkingPart[] = [];

  /** @param created seconds since 1970 */
  constructor(created: number) {
    this.#created = created;
    this.#begin('', '');
  }

  write(event: StreamedEvent): string {
    switch (event.type) {
      case 'start':
        this.#begin(event.id, event.model);
        return this.#role() + this.#begun(event.usage);
      case 'text':
        return `${this.#role()}${this.#delta}"content":${event.literal}${TEXT_TAIL}`;
      case 'text_end':
        return '';
      case 'thinking':
        return `${this.#role()}${this.#delta}"reasoning_content":${event.literal}${TEXT_TAIL}`;
      case 'thinking_end':
        this.#thinking.push(event.part);
        return '';
      case 'tool_call': {
        const { call: index, id, name } = event;
        return this.#members({
          tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
        });
      }
      case 'tool_arguments':
        return `${this.#role()}${this.#argumentsTo(event.call)}${event.literal}${ARGUMENTS_TAIL}`;
      case 'stop':
        return this.#stop(event.stop);
      case 'error': {
        const { message, type } = event.error;
        return `data: ${JSON.stringify({ error: { message, type, param: null, code: null } })}\n\n`;
      }
    }
  }

  writeRaw(delta: RawDelta, frame: Buffer): Buffer {
    if (!this.#hasRole) {
      const role = Buffer.from(this.#role());
      return Buffer.concat([role, this.writeRaw(delta, frame)]);
    }
    if (delta.type === 'text') return writeRawDelta(this.#textHead, frame, delta, TEXT_TAIL_BYTES);
    if (this.#argumentsHead.call !== delta.call)
      this.#argumentsHead = { call: delta.call, bytes: Buffer.from(this.#argumentsTo(delta.call)) };
    return writeRawDelta(this.#argumentsHead.bytes, frame, delta, ARGUMENTS_TAIL_BYTES);
  }

  /** Returns the frames of the end: the chunk without choices, when the usage is known, and `[DONE]`. */
  writeEnd(usage: TokenUsage | null): string[] {
    const done = 'data: [DONE]\n\n';
    if (usage === null) return [done];
    return [`${this.#head}[],"usage":${JSON.stringify(writeCompletionUsage(usage))}}\n\n`, done];
  }

  #begin(id: string, model: string): void {
    const head = JSON.stringify({
      id: id.slice(0, MAX_NAME),
      object: 'chat.completion.chunk',
      created: this.#created,
      model: model.slice(0, MAX_NAME),
    });
    this.#head = `data: ${head.slice(0, -1)},"choices":`;
    this.#delta = `${this.#head}[{"index":0,"delta":{`;
    this.#textHead = Buffer.from(`${this.#delta}"content":`);
    this.#argumentsHead = { call: -1, bytes: this.#textHead };
  }

  /**
   * Writes the tokens of the prompt, which are counted before there is an answer, for the log alone: it needs them when the
   * stream breaks off. The client gets them at the end with the rest, as some clients add up all counts of a stream.
   */
  #begun(usage: TokenUsage | null): string {
    if (usage === null) return '';
    const { prompt_tokens, prompt_tokens_details } = writeCompletionUsage(usage);
    return `${NOTE_HEAD}${this.#head}[],"usage":${JSON.stringify({ prompt_tokens, prompt_tokens_details })}}\n\n`;
  }

  #argumentsTo(call: number): string {
    return `${this.#delta}"tool_calls":[{"index":${call},"function":{"arguments":`;
  }

  /** Returns the chunk with the role, once, before any other; later nothing. */
  #role(): string {
    if (this.#hasRole) return '';
    this.#hasRole = true;
    return `${this.#delta}"role":"assistant","content":null${TEXT_TAIL}`;
  }

  #members(delta: JsonObject): string {
    return `${this.#role()}${this.#delta}${JSON.stringify(delta).slice(1, -1)}${TEXT_TAIL}`;
  }

  /**
   * Writes all blocks in one list, before the end. OpenAI's Python client fails at a second list of objects without an
   * `index`, and its JavaScript client keeps the last list alone.
   */
  #thinkingBlocks(): string {
    return this.#thinking.length === 0
      ? ''
      : this.#members({ thinking_blocks: this.#thinking.map(writeThinkingBlock) });
  }

  #stop(stop: Stop): string {
    const delta = stop.refusal === null ? {} : { refusal: stop.refusal };
    const choice = { index: 0, delta, finish_reason: stop.finish, ...nativeStop(stop) };
    return `${this.#role()}${this.#thinkingBlocks()}${this.#head}[${JSON.stringify(choice)}]}\n\n`;
  }
}
