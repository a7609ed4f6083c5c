import type { JsonObject } from '#core/json/mod.ts';
import type { EventWriter, Stop, StreamedEvent, ThinkingPart, TokenUsage } from '../conversation.ts';
import { type RawDelta, writeRawDelta } from '../raw-delta.ts';
import { writeStop } from './stop.ts';
import { writeMessageUsage } from './usage.ts';

function frame(event: JsonObject & { type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

const DELTA_TAIL = '}}\n\n';
const DELTA_TAIL_BYTES = Buffer.from(DELTA_TAIL);

/** Returns the frame of a delta up to its text. */
function deltaHead(index: number, type: string, member: string): string {
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${member}":`;
}

function writeDelta(index: number, type: string, member: string, literal: string): string {
  return `${deltaHead(index, type, member)}${literal}${DELTA_TAIL}`;
}

type ToolBlock = {
  index: number;
  literals: string[];
  /** Length of all literals. */
  characters: number;
  /** Characters before which it is not looked whether they are whole. */
  nextCheckAt: number;
};

/** Arguments of so many characters are read whenever another block begins; longer ones, once they are twice as long as the last time. */
const ALWAYS_CHECKED_CHARACTERS = 4 * 1024;

/** Returns whether the arguments so far are complete JSON. */
function isWhole(tool: ToolBlock): boolean {
  if (tool.characters < tool.nextCheckAt) return false;
  try {
    JSON.parse(tool.literals.map((literal) => JSON.parse(literal) as string).join(''));
    return true;
  } catch {
    if (tool.characters > ALWAYS_CHECKED_CHARACTERS) tool.nextCheckAt = 2 * tool.characters;
    return false;
  }
}

/**
 * Writes the events of a streamed Messages answer. One block is open at a time, as Anthropic's clients expect, except for
 * tool calls whose arguments alternate: those stay open until their arguments are complete.
 */
export class MessageEventWriter implements EventWriter {
  #hasStarted = false;
  #blocks = 0;
  /** The open block; `head`: the bytes of its raw deltas up to their text. */
  #open: { type: 'text' | 'thinking'; index: number; head: Buffer } | null = null;
  readonly #tools = new Map<number, ToolBlock>();
  #stop: Stop | null = null;

  write(event: StreamedEvent): string {
    switch (event.type) {
      case 'start':
        return this.#start(event.id, event.model, event.usage);
      case 'text':
        return `${this.#openBlock('text')}${writeDelta(this.#blocks - 1, 'text_delta', 'text', event.literal)}`;
      case 'text_end':
        return this.#open?.type === 'text' ? this.#closeText() : '';
      case 'thinking':
        return `${this.#openBlock('thinking')}${writeDelta(this.#blocks - 1, 'thinking_delta', 'thinking', event.literal)}`;
      case 'thinking_end':
        return this.#thinkingEnd(event.part);
      case 'tool_call': {
        const block = { type: 'tool_use', id: event.id, name: event.name, input: {} };
        const closed = this.#closeText() + this.#closeTools(isWhole);
        this.#tools.set(event.call, { index: this.#blocks, literals: [], characters: 0, nextCheckAt: 0 });
        return closed + this.#blockStart(block);
      }
      case 'tool_arguments': {
        const tool = this.#tools.get(event.call);
        if (tool === undefined) return '';
        tool.literals.push(event.literal);
        tool.characters += event.literal.length;
        return writeDelta(tool.index, 'input_json_delta', 'partial_json', event.literal);
      }
      case 'stop':
        this.#stop = event.stop;
        return this.#started() + this.#closeText() + this.#closeTools(() => true);
      case 'error':
        return frame({ type: 'error', error: { type: event.error.type, message: event.error.message } });
    }
  }

  writeRaw(delta: RawDelta, frame: Buffer): Buffer {
    if (delta.type === 'text' && this.#open?.type === 'text')
      return writeRawDelta(this.#open.head, frame, delta, DELTA_TAIL_BYTES);
    const { type, call, start, end } = delta;
    const literal = frame.toString('utf8', start, end);
    return Buffer.from(this.write(type === 'text' ? { type, literal } : { type, call, literal }));
  }

  writeEnd(usage: TokenUsage | null): string[] {
    const delta =
      this.#stop === null ? { stop_reason: 'end_turn', stop_sequence: null } : writeStop(this.#stop);
    return [
      frame({ type: 'message_delta', delta, usage: writeMessageUsage(usage) }),
      frame({ type: 'message_stop' }),
    ];
  }

  /** Writes message_start. Its usage may be unknown: the last event has it, and clients take that for the whole. */
  #start(id: string, model: string, usage: TokenUsage | null): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: writeMessageUsage(usage),
    };
    return frame({ type: 'message_start', message });
  }

  #started(): string {
    return this.#start('', '', null);
  }

  #openBlock(type: 'text' | 'thinking'): string {
    if (this.#open?.type === type) return '';
    const closed = this.#closeText() + this.#closeTools(isWhole);
    const head = Buffer.from(deltaHead(this.#blocks, 'text_delta', 'text'));
    this.#open = { type, index: this.#blocks, head };
    return (
      closed + this.#blockStart(type === 'text' ? { type, text: '' } : { type, thinking: '', signature: '' })
    );
  }

  #blockStart(block: JsonObject): string {
    const index = this.#blocks;
    this.#blocks += 1;
    return this.#started() + frame({ type: 'content_block_start', index, content_block: block });
  }

  #thinkingEnd(part: ThinkingPart): string {
    if (part.type === 'redacted_thinking') {
      const opened = this.#closeText() + this.#blockStart({ type: part.type, data: part.data });
      return opened + frame({ type: 'content_block_stop', index: this.#blocks - 1 });
    }
    if (this.#open?.type !== 'thinking') return '';
    const { index } = this.#open;
    const signature =
      part.signature === ''
        ? ''
        : writeDelta(index, 'signature_delta', 'signature', JSON.stringify(part.signature));
    return signature + this.#closeText();
  }

  #closeText(): string {
    if (this.#open === null) return '';
    const { index } = this.#open;
    this.#open = null;
    return frame({ type: 'content_block_stop', index });
  }

  #closeTools(mayClose: (tool: ToolBlock) => boolean): string {
    let closed = '';
    for (const [call, tool] of this.#tools) {
      if (!mayClose(tool)) continue;
      this.#tools.delete(call);
      closed += frame({ type: 'content_block_stop', index: tool.index });
    }
    return closed;
  }
}
