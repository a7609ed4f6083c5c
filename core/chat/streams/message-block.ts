import type { JsonObject } from '../../json-values/mod.ts';
import { appendItems, appendText, bare } from './members.ts';
import { readToolInput } from './tool-input.ts';

/** The type of block by the type of its deltas. */
const KINDS: ReadonlyMap<unknown, string> = new Map([
  ['text_delta', 'text'],
  ['citations_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'thinking'],
  ['input_json_delta', 'tool_use'],
  ['compaction_delta', 'compaction'],
]);

/** A block of a message's content, as it grows. */
export class MessageBlock {
  readonly #block: JsonObject;
  /** The pieces of a tool's input. */
  #inputText = '';

  /** @param block the block of its start event */
  constructor(block: JsonObject) {
    this.#block = bare(block);
  }

  /** Returns the type of block that a delta makes where none was started; null for an unknown type of delta. */
  static kindOf(delta: JsonObject): string | null {
    return KINDS.get(delta.type) ?? null;
  }

  /** Merges a delta. A delta for another type of block is ignored. */
  merge({ type, ...delta }: JsonObject): void {
    const block = this.#block;
    if (!isOfKind(block.type, KINDS.get(type))) return;
    switch (type) {
      case 'citations_delta':
        appendItems(block, 'citations', [delta.citation]);
        break;
      case 'input_json_delta':
        if (typeof delta.partial_json === 'string') this.#inputText += delta.partial_json;
        break;
      case 'compaction_delta':
        // The only delta of its block, and the whole of it.
        Object.assign(block, delta);
        break;
      default:
        for (const [name, piece] of Object.entries(delta)) appendText(block, name, piece);
    }
  }

  end(): JsonObject {
    // A call without arguments has no pieces, or one empty piece: the input of its start event stays.
    if (this.#inputText !== '') this.#block.input = readToolInput(this.#inputText);
    return this.#block;
  }
}

/** Server tools and MCP tools have types of their own: `server_tool_use`, `mcp_tool_use`. */
function isOfKind(type: unknown, kind: string | undefined): boolean {
  return type === kind || (kind === 'tool_use' && typeof type === 'string' && type.endsWith('_tool_use'));
}
