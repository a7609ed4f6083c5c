import type { JsonObject } from '../../json/mod.ts';
import { appendItems, appendText, bare } from './members.ts';
import { readToolInput } from './tool-input.ts';

/** Which block a delta belongs to. */
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

  /** @param block as it began */
  constructor(block: JsonObject) {
    this.#block = bare(block);
  }

  /** What block a delta makes where none began; null for deltas of an unknown kind. */
  static kindOf(delta: JsonObject): string | null {
    return KINDS.get(delta.type) ?? null;
  }

  /** A delta of another kind than its block's is passed over. */
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
        // The one delta that is all that its block will be.
        Object.assign(block, delta);
        break;
      default:
        for (const [name, piece] of Object.entries(delta)) appendText(block, name, piece);
    }
  }

  end(): JsonObject {
    // A call without arguments has no pieces, or an empty one: its input is what it began with.
    if (this.#inputText !== '') this.#block.input = readToolInput(this.#inputText);
    return this.#block;
  }
}

/** The tools of the server and of MCP servers have kinds of their own: `server_tool_use`, `mcp_tool_use`. */
function isOfKind(type: unknown, kind: string | undefined): boolean {
  return type === kind || (kind === 'tool_use' && typeof type === 'string' && type.endsWith('_tool_use'));
}
