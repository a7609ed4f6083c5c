/** What chat completions and the older completions share: a head, and choices by their index. */
import { isObject, type JsonObject } from '../../json/mod.ts';
import type { Assembled, Assembler, Ending, StreamEvent } from './assembler.ts';
import { ByIndex } from './by-index.ts';
import { appendItems, setKnown } from './members.ts';

/** A choice of one of the two, which is put together. */
export type Choice = {
  merge(part: JsonObject): void;
  end(): JsonObject;
};

/** How one of the two is made. */
export type ChoiceForm = {
  /** `object` of the answer, where the chunks have another name. */
  object: string;
  begin(index: number): Choice;
};

/** Everything beside the choices is known from whichever chunk told it last. */
export function mergeHead(head: JsonObject, chunk: JsonObject): void {
  // What Azure's asynchronous filter tells was created at no time.
  const hasTime = chunk.created !== 0 || head.created === undefined;
  setKnown(head, chunk, hasTime ? ['choices'] : ['choices', 'created']);
}

export class ChoicesAssembler implements Assembler {
  readonly #head: JsonObject;
  readonly #form: ChoiceForm;
  readonly #choices = new ByIndex<Choice>();
  #isFinished = false;
  #hasFailed = false;

  /** @param head what was known before the first choice came */
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
    // OpenRouter's word for what broke off. Old versions of Ollama have an empty one in every chunk.
    if (reason === 'error') this.#hasFailed = true;
    else if (typeof reason === 'string' && reason !== '') this.#isFinished = true;
  }
}

/** Not merged as they are. Of the two texts Together sends both, in chats as in completions. */
const APART = ['index', 'logprobs', 'delta', 'text'];

/** Merges what a part of a choice has beside its text: log probabilities are lists that grow, the rest is set. */
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
