/** Events of Anthropic's Messages: https://platform.claude.com/docs/en/build-with-claude/streaming */
import { isObject, type JsonObject } from '../../json-values/mod.ts';
import type { Assembled, Assembler, StreamEvent } from './assembler.ts';
import { ByIndex } from './by-index.ts';
import { bare, setKnown } from './members.ts';
import { MessageBlock } from './message-block.ts';

/** Assembles a message. */
export class MessagesAssembler implements Assembler {
  readonly #message = bare({ type: 'message', role: 'assistant', content: [] });
  readonly #usage = bare({});
  readonly #blocks = new ByIndex<MessageBlock>();
  #hasStopped = false;

  take({ type, data }: StreamEvent): void {
    switch (type) {
      case 'message_start':
        if (isObject(data.message)) this.#start(data.message);
        break;
      case 'content_block_start':
        if (isObject(data.content_block)) this.#blockStart(data.index, data.content_block);
        break;
      case 'content_block_delta':
        if (isObject(data.delta)) this.#blockDelta(data.index, data.delta);
        break;
      case 'message_delta':
        this.#messageDelta(data);
        break;
      case 'message_stop':
        this.#hasStopped = true;
        break;
    }
  }

  end(): Assembled {
    const message = this.#message;
    message.content = this.#blocks.list().map((block) => block.end());
    if (Object.keys(this.#usage).length > 0) message.usage = this.#usage;
    return { completion: message, complete: this.#hasStopped || typeof message.stop_reason === 'string' };
  }

  /** Takes the message's head. It has content already when a paused turn is continued. */
  #start(message: JsonObject): void {
    const { content, usage, ...head } = message;
    Object.assign(this.#message, head);
    this.#count(usage);
    if (!Array.isArray(content)) return;
    for (const block of content) {
      if (isObject(block)) this.#blocks.begin(this.#blocks.next, new MessageBlock(block));
    }
  }

  #blockStart(index: unknown, block: JsonObject): void {
    this.#blocks.begin(index, new MessageBlock(block));
    // Another model answers from here on; an answer without a stream names the last one.
    const { type, to } = block;
    if (type === 'fallback' && isObject(to)) setKnown(this.#message, { model: to.model ?? null });
  }

  #blockDelta(index: unknown, delta: JsonObject): void {
    const kind = MessageBlock.kindOf(delta);
    if (kind !== null) this.#blocks.at(index, () => new MessageBlock({ type: kind })).merge(delta);
  }

  #messageDelta({ type: _type, delta, usage, ...rest }: JsonObject): void {
    setKnown(this.#message, rest);
    if (isObject(delta)) setKnown(this.#message, delta);
    this.#count(usage);
  }

  /** Merges usage. Each count covers the whole answer so far, so it replaces the previous one. */
  #count(usage: unknown): void {
    if (isObject(usage)) setKnown(this.#usage, usage);
  }
}
