/** Chunks of the older completions: https://platform.openai.com/docs/api-reference/completions */
import type { JsonObject } from '../../json-values/mod.ts';
import { type Choice, type ChoiceForm, mergeRest } from './choices.ts';
import { appendText, bare } from './members.ts';

/** The older completions, for `ChoicesAssembler`. */
export const COMPLETIONS: ChoiceForm = {
  object: 'text_completion',
  begin: (index) => new TextChoice(index),
};

class TextChoice implements Choice {
  readonly #choice: JsonObject;

  constructor(index: number) {
    this.#choice = bare({ text: '', index, logprobs: null, finish_reason: null });
  }

  merge(part: JsonObject): void {
    mergeRest(this.#choice, part);
    appendText(this.#choice, 'text', part.text);
  }

  end(): JsonObject {
    return this.#choice;
  }
}
