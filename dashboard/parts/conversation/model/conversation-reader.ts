/** The conversation in one body, page by page. */
import { isObject, type JsonObject } from '#core/json-values/mod.ts';
import { messagesOf } from '#core/messages/mod.ts';
import { fullAllowance, Keeper, shortText } from './keeper.ts';
import { noticeOf, type Pending, pendingAnswers } from './read-answer.ts';
import { readMessage } from './read-message.ts';
import type { ConversationPage, Side } from './types.ts';

const MOST_MESSAGES = 100;
/** Names of tools that are told at once. */
const MOST_NAMES = 30;

/** Members that are shown as messages, or as tools. */
const SHOWN: Readonly<Record<Side, ReadonlySet<string>>> = {
  request: new Set([
    'messages',
    'contents',
    'input',
    'prompt',
    'system',
    'systemInstruction',
    'instructions',
    'tools',
    'functions',
  ]),
  response: new Set(['choices', 'candidates', 'output', 'content', 'data', 'embeddings', 'error']),
};

/** The place of what is kept of the body beside its messages. */
const ASIDE = 'aside';

export class ConversationReader {
  readonly #side: Side;
  readonly #body: JsonObject;
  readonly #status: number;
  #pending: Pending[] | null = null;
  /** Values that a message refers to, by the message's place. */
  readonly #kept = new Map<string, readonly unknown[]>();

  constructor(side: Side, body: unknown, status: number) {
    this.#side = side;
    this.#body = isObject(body) ? body : {};
    this.#status = status;
  }

  /** Returns the values that a message refers to. */
  keptAt(place: string): readonly unknown[] {
    const kept = this.#kept.get(place);
    if (kept !== undefined) return kept;
    if (place === ASIDE) this.page(0, 0);
    else if (/^\d{1,9}$/.test(place)) this.page(Number(place), 1);
    return this.#kept.get(place) ?? [];
  }

  page(from: number, count: number): ConversationPage {
    const pending = this.#messages();
    const allowance = fullAllowance();
    const messages = pending.slice(from, from + Math.min(count, MOST_MESSAGES)).map((read, index) => {
      const keeper = new Keeper(this.#side, String(from + index), allowance);
      const message = read(keeper);
      this.#kept.set(String(from + index), keeper.kept);
      return message;
    });
    const aside = new Keeper(this.#side, ASIDE, allowance);
    const page = {
      messages,
      total: pending.length,
      notice: this.#side === 'response' ? noticeOf(this.#body, this.#status) : null,
      tools: this.#side === 'request' ? toolsOf(this.#body, aside) : null,
      settings: settingsOf(this.#body, this.#side, aside),
    };
    this.#kept.set(ASIDE, aside.kept);
    return page;
  }

  #messages(): Pending[] {
    this.#pending ??= this.#side === 'request' ? pendingMessages(this.#body) : pendingAnswers(this.#body);
    return this.#pending;
  }
}

function toolsOf({ tools, functions }: JsonObject, keeper: Keeper): ConversationPage['tools'] {
  const list = [tools, functions].find((one) => Array.isArray(one)) as unknown[] | undefined;
  if (list === undefined || list.length === 0) return null;
  const names = list.slice(0, MOST_NAMES).map((tool) => {
    if (!isObject(tool)) return 'tool';
    const inner = isObject(tool.function) ? tool.function : tool;
    return shortText(inner.name) ?? shortText(tool.type) ?? 'tool';
  });
  return { names, count: list.length, root: keeper.tree(list, 'tools') };
}

function settingsOf(body: JsonObject, side: Side, keeper: Keeper): ConversationPage['settings'] {
  const others = Object.entries(body).filter(([name]) => !SHOWN[side].has(name));
  return others.length === 0 ? null : keeper.tree(Object.fromEntries(others), 'settings');
}

function pendingMessages(body: JsonObject): Pending[] {
  if (Object.keys(body).length === 1 && typeof body.text === 'string')
    return [(keeper) => readMessage(body.text, 'user', keeper)];
  const messages = messagesOf(body);
  // A prompt of tokens: each is a number.
  if (messages.length > 1 && messages.every((one) => typeof one === 'number'))
    return [(keeper) => readMessage(messages, 'user', keeper)];
  return messages.map((message) => (keeper) => readMessage(message, 'user', keeper));
}
