import { isObject, type JsonObject } from '#core/json/mod.ts';

/** A text to count, and further tokens: those around it, and those given as numbers. */
export type Countable = { text: string; extraTokens: number };

/**
 * Members that hold text which a model reads or writes, in the dialects of chat completions, Messages and Responses. Other
 * members are not counted: ids, roles, images, audio, files.
 */
const TEXTS = ['name', 'text', 'content', 'refusal', 'thinking', 'summary', 'output'];
const NESTED = ['function', 'function_call', 'tool_calls', 'custom', 'source'];
/** Two names of the same text: a message with both has it twice. */
const REASONING = ['reasoning_content', 'reasoning'];
/** The arguments of a tool call: text, or an object that the model wrote as JSON. */
const ARGUMENTS = ['arguments', 'input'];

/** Tokens of a tool call besides its name and arguments, as OpenAI counts; other providers come close. */
const TOOL_CALL_TOKENS = 7;
/** Maximum nesting: deeper than the parts of a real message. */
const MAX_DEPTH = 16;

/**
 * Separates two texts. It is a token of its own in any context, so that joined texts have as many tokens as separate ones,
 * and rare in texts.
 */
const SEPARATOR = '\0';

/** Collects the texts of one side of a call. Accepts any JSON, and ignores unknown members. */
export class TextCollector {
  readonly #texts: string[] = [];
  #extraTokens = 0;

  addTokens(tokens: number): void {
    this.#extraTokens += tokens;
  }

  /** Adds a message, a part of one, an item of an answer, a list of them, or plain text. */
  add(value: unknown, depth = 0): void {
    if (depth > MAX_DEPTH) return;
    if (typeof value === 'string') this.#addText(value);
    else if (Array.isArray(value)) for (const item of value) this.add(item, depth + 1);
    else if (isObject(value)) this.#addMembers(value, depth);
  }

  /** Returns the collected text; null when there is none, and no tokens. */
  countable(): Countable | null {
    if (this.#texts.length === 0 && this.#extraTokens === 0) return null;
    const separators = Math.max(0, this.#texts.length - 1);
    return { text: this.#texts.join(SEPARATOR), extraTokens: this.#extraTokens - separators };
  }

  #addText(text: string): void {
    if (text !== '') this.#texts.push(text);
  }

  #addMembers(object: JsonObject, depth: number): void {
    for (const name of TEXTS) this.add(object[name], depth + 1);
    for (const name of NESTED) if (isNest(object[name])) this.add(object[name], depth + 1);
    const reasoning = REASONING.map((name) => object[name]).find((value) => typeof value === 'string');
    this.add(reasoning);
    for (const name of ARGUMENTS) this.#addArguments(object[name]);
    // The data of a text document; other documents hold base64.
    if (object.type === 'text') this.add(object.data);
  }

  #addArguments(value: unknown): void {
    if (typeof value !== 'string' && !isObject(value)) return;
    this.addTokens(TOOL_CALL_TOKENS);
    this.#addText(typeof value === 'string' ? value : jsonText(value));
  }
}

function isNest(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** Writes an object as JSON; '' when it is nested too deep. */
function jsonText(value: JsonObject): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '';
  }
}
