import { isObject, type JsonObject } from '#core/json/mod.ts';

/** What is to be counted: a text, and the tokens that stand around it or come as numbers. */
export type Countable = { text: string; extraTokens: number };

/**
 * Members that hold what a model reads or writes, in the dialects of chat completions, Messages and Responses. What is
 * not named here is not counted: ids, roles, pictures, sounds, files.
 */
const TEXTS = ['name', 'text', 'content', 'refusal', 'thinking', 'summary', 'output'];
const NESTED = ['function', 'function_call', 'tool_calls', 'custom', 'source'];
/** Names of one and the same; who sends both sends the same text twice. */
const REASONING = ['reasoning_content', 'reasoning'];
/** What a tool is called with: text, or an object that the model wrote as JSON. */
const ARGUMENTS = ['arguments', 'input'];

/** A call of a tool, beside its name and arguments: what OpenAI counts for it, and close to what others do. */
const TOOL_CALL_TOKENS = 7;
/** Deeper than parts of a message lie. */
const MAX_DEPTH = 16;

/**
 * Between two texts: a token of its own wherever it stands, so that texts count as much together as apart, and one that
 * texts hardly ever hold.
 */
const SEPARATOR = '\0';

/** Gathers the texts of one side of a call. Takes any JSON, and passes over what it does not know. */
export class TextCollector {
  readonly #texts: string[] = [];
  #extraTokens = 0;

  addTokens(tokens: number): void {
    this.#extraTokens += tokens;
  }

  /** A message, a part of one, an item of an answer, a list of them, or plain text. */
  add(value: unknown, depth = 0): void {
    if (depth > MAX_DEPTH) return;
    if (typeof value === 'string') this.#addText(value);
    else if (Array.isArray(value)) for (const item of value) this.add(item, depth + 1);
    else if (isObject(value)) this.#addMembers(value, depth);
  }

  /** Null when nothing was gathered. */
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
    // A text document: others hold base64.
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

/** As JSON; nothing when it is nested too deep for that. */
function jsonText(value: JsonObject): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '';
  }
}
