/** The common part of chat completions and the older completions: a head, and choices by their index. */
import { isObject, type JsonObject } from '../../json-values/mod.ts';
import type { Assembled, Assembler, Ending, StreamEvent } from './assembler.ts';
import { ByIndex } from './by-index.ts';
import { appendItems, setKnown } from './members.ts';

/** A choice under assembly. */
export type Choice = {
  merge(part: JsonObject): void;
  end(): JsonObject;
};

/** The differences between the two: the name of the object, and the making of a choice. */
export type ChoiceForm = {
  /** `object` of the whole answer; chunks have another one. */
  object: string;
  begin(index: number): Choice;
};

/** Merges the members of a chunk beside its choices: the last chunk that has a member decides its value. */
export function mergeHead(head: JsonObject, chunk: JsonObject): void {
  // Chunks of Azure's asynchronous filter have `created: 0`.
  const hasTime = chunk.created !== 0 || head.created === undefined;
  setKnown(head, chunk, hasTime ? ['choices'] : ['choices', 'created']);
}

/** Assembles chat completions or completions. */
export class ChoicesAssembler implements Assembler {
  readonly #head: JsonObject;
  readonly #form: ChoiceForm;
  readonly #choices = new ByIndex<Choice>();
  #isFinished = false;
  #hasFailed = false;

  /** @param head members that arrived before the first choice */
  constructor(head: JsonObject, form: ChoiceForm) {
    this.#head = head;
    this.#form = form;
  }

  take({ data: chunk }: StreamEvent): void {
    mergeHead(this.#head, chunk);
    if (!Array.isArray(chunk.choices)) return;
    for (const part of chunk.choices) {
      if (!isObject(part)) continue;
      this.#choices.at(part.index, this.#form.begin).merge(part);
      this.#finish(part.finish_reason);
    }
  }

  end({ isDone, hasError }: Ending): Assembled {
    const completion = this.#head;
    completion.object = this.#form.object;
    completion.choices = this.#choices.list().map((choice) => choice.end());
    const isFailed = hasError || this.#hasFailed;
    return { completion, complete: (this.#isFinished || isDone) && !isFailed };
  }

  #finish(reason: unknown): void {
    // OpenRouter marks a stream that broke off with `error`. Old versions of Ollama send an empty reason in every chunk.
    if (reason === 'error') this.#hasFailed = true;
    else if (typeof reason === 'string' && reason !== '') this.#isFinished = true;
  }
}

/** Members with merge rules of their own. Together sends both `delta` and `text`, in chats as in completions. */
const APART = ['index', 'logprobs', 'delta', 'text'];

/** Merges the members of a choice's part other than its text: log probabilities are lists that grow, the rest is set. */
export function mergeRest(choice: JsonObject, part: JsonObject): void {
  setKnown(choice, part, APART);
  const { logprobs } = part;
  if (logprobs === null || logprobs === undefined) return;
  if (!isObject(choice.logprobs) || !isObject(logprobs)) choice.logprobs = logprobs;
  else mergeLists(choice.logprobs, logprobs);
}

function mergeLists(before: JsonObject, after: JsonObject): void {
  for (const [name, value] of Object.entries(after)) {
    if (Array.isArray(value)) appendItems(before, name, value);
    else if (value !== null) before[name] = value;
  }
}
