/** Events of a Messages stream, read as events of an answer. */
import { readFrameData } from '#core/chat/mod.ts';
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import {
  ANSWER_TOOL,
  type AnswerEvent,
  type EventReader,
  type ThinkingPart,
  type TokenUsage,
} from '../conversation.ts';
import { holdsAt, type RawDelta, stringEnd } from '../raw-delta.ts';
import { readStop } from './stop.ts';
import { readMessageUsage } from './usage.ts';

type Block =
  | { type: 'text' }
  | { type: 'thinking'; part: ThinkingPart }
  /** `call` null: the input of this tool is the answer. */
  | { type: 'tool'; call: number | null; input: JsonObject; hasArguments: boolean }
  | { type: 'other' };

type Latest = { head: Buffer | null; block: Block };

const NO_BLOCK: Latest = { head: null, block: { type: 'other' } };

/** Returns the bytes of a block's deltas up to their text, as Anthropic's API writes them; null: they are parsed. */
function rawHead(index: number, type: Block['type']): Buffer | null {
  if (type !== 'text' && type !== 'tool') return null;
  const delta = type === 'text' ? '"text_delta","text":' : '"input_json_delta","partial_json":';
  return Buffer.from(
    `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":${delta}`,
  );
}

const BRACE = 0x7d;
const SPACE = 0x20;
const LINE_END = 0x0a;

/**
 * Returns whether a delta's text is followed by the end of its frame. Anthropic pads events with spaces, so that their length does
 * not reveal the text's.
 */
function isRawTail(frame: Buffer, from: number): boolean {
  let at = from + 1;
  while (frame[at] === SPACE) at += 1;
  const isClosed = frame[from] === BRACE && frame[at] === BRACE;
  return isClosed && frame.length === at + 3 && frame[at + 1] === LINE_END && frame[at + 2] === LINE_END;
}

/** Limit of blocks open at the same time; Anthropic opens one. */
const MAX_OPEN_BLOCKS = 1_000;

/** Reads the events of a streamed Messages answer. */
export class MessageEventReader implements EventReader {
  readonly #emit: (event: AnswerEvent) => void;
  readonly #blocks = new Map<number, Block>();
  /** The block that opened last: the next deltas are probably its own. */
  #latest: Latest = NO_BLOCK;
  #calls = 0;
  #usage: TokenUsage | null = null;
  #hasStopped = false;

  /** @param emit takes the events, in order */
  constructor(emit: (event: AnswerEvent) => void) {
    this.#emit = emit;
  }

  readRaw(frame: Buffer): RawDelta | null {
    const { head, block } = this.#latest;
    if (head === null || !holdsAt(frame, head, 0)) return null;
    const end = stringEnd(frame, head.length);
    if (end === -1 || !isRawTail(frame, end)) return null;
    if (block.type !== 'tool') return { type: 'text', call: 0, start: head.length, end };
    block.hasArguments = true;
    const { call } = block;
    return { type: call === null ? 'text' : 'tool_arguments', call: call ?? 0, start: head.length, end };
  }

  end(): void {
    if (this.#hasStopped) this.#emit({ type: 'end', usage: this.#usage });
  }

  read(frame: string): void {
    const data = readFrameData(frame);
    const event: unknown = data === null ? null : JSON.parse(data);
    if (!isObject(event)) return;
    switch (event.type) {
      case 'message_start':
        this.#start(event);
        break;
      case 'content_block_start':
        this.#blockStart(event);
        break;
      case 'content_block_delta':
        this.#blockDelta(event);
        break;
      case 'content_block_stop':
        this.#blockStop(event);
        break;
      case 'message_delta':
        this.#messageDelta(event);
        break;
      case 'message_stop':
        if (!this.#hasStopped) this.#stop({});
        this.#emit({ type: 'end', usage: this.#usage });
        break;
      case 'error':
        this.#error(event);
        break;
    }
  }

  #start({ message }: JsonObject): void {
    const from = isObject(message) ? message : {};
    this.#usage = readMessageUsage(from.usage);
    this.#emit({
      type: 'start',
      id: textOrNull(from.id) ?? '',
      model: textOrNull(from.model) ?? '',
      usage: this.#usage,
    });
  }

  #blockStart({ index, content_block: block }: JsonObject): void {
    if (typeof index !== 'number' || !isObject(block) || this.#blocks.size >= MAX_OPEN_BLOCKS) return;
    const opened = this.#open(block);
    this.#blocks.set(index, opened);
    this.#latest = { head: rawHead(index, opened.type), block: opened };
  }

  #open(block: JsonObject): Block {
    switch (block.type) {
      case 'text':
        this.#text('text', block.text);
        return { type: 'text' };
      case 'thinking': {
        this.#text('thinking', block.thinking);
        const part = {
          type: block.type,
          text: textOrNull(block.thinking) ?? '',
          signature: textOrNull(block.signature) ?? '',
        };
        return { type: 'thinking', part };
      }
      case 'redacted_thinking':
        return { type: 'thinking', part: { type: block.type, data: textOrNull(block.data) ?? '' } };
      case 'tool_use': {
        const input = isObject(block.input) ? block.input : {};
        if (block.name === ANSWER_TOOL) return { type: 'tool', call: null, input, hasArguments: false };
        const call = this.#calls;
        this.#calls += 1;
        this.#emit({
          type: 'tool_call',
          call,
          id: textOrNull(block.id) ?? '',
          name: textOrNull(block.name) ?? '',
        });
        return { type: 'tool', call, input, hasArguments: false };
      }
      default:
        return { type: 'other' };
    }
  }

  /** Reads a delta; one that does not match its block is ignored. */
  #blockDelta({ index, delta }: JsonObject): void {
    const block = this.#blocks.get(index as number);
    if (block === undefined || !isObject(delta)) return;
    if (block.type === 'text' && delta.type === 'text_delta') this.#text('text', delta.text);
    else if (block.type === 'tool' && delta.type === 'input_json_delta') {
      if (typeof delta.partial_json === 'string') this.#arguments(block, JSON.stringify(delta.partial_json));
    } else if (block.type === 'thinking' && block.part.type === 'thinking') {
      if (delta.type === 'thinking_delta') {
        this.#text('thinking', delta.thinking);
        block.part.text += textOrNull(delta.thinking) ?? '';
      } else if (delta.type === 'signature_delta') block.part.signature += textOrNull(delta.signature) ?? '';
    }
  }

  #blockStop({ index }: JsonObject): void {
    const block = this.#blocks.get(index as number);
    if (block === undefined) return;
    this.#blocks.delete(index as number);
    if (block === this.#latest.block) this.#latest = NO_BLOCK;
    if (block.type === 'thinking') this.#emit({ type: 'thinking_end', part: block.part });
    // A call without arguments has no deltas, or an empty one; the client still expects an object.
    else if (block.type === 'tool' && !block.hasArguments)
      this.#arguments(block, JSON.stringify(JSON.stringify(block.input)));
  }

  #messageDelta({ delta, usage }: JsonObject): void {
    this.#usage = readMessageUsage(usage, this.#usage);
    if (!this.#hasStopped && isObject(delta) && typeof delta.stop_reason === 'string') this.#stop(delta);
  }

  #stop(delta: JsonObject): void {
    this.#hasStopped = true;
    this.#emit({ type: 'stop', stop: readStop(delta, this.#calls > 0) });
  }

  #error({ error }: JsonObject): void {
    const from = isObject(error) ? error : {};
    const type = textOrNull(from.type) ?? 'api_error';
    const message = textOrNull(from.message) ?? 'The provider failed in the middle of its answer';
    this.#emit({ type: 'error', error: { type, message } });
  }

  #text(type: 'text' | 'thinking', value: unknown): void {
    if (typeof value === 'string' && value !== '') this.#emit({ type, literal: JSON.stringify(value) });
  }

  #arguments(block: Block & { type: 'tool' }, literal: string): void {
    if (literal === '""') return;
    block.hasArguments = true;
    if (block.call === null) this.#emit({ type: 'text', literal });
    else this.#emit({ type: 'tool_arguments', call: block.call, literal });
  }
}
