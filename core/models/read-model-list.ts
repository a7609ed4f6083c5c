/**
 * Reads the text of `model`: a model, a list of models separated by commas, or a group of MODELS_FILE. Gateways route by
 * it, and the API checks the models of judges with it before an evaluator is created.
 */

import { quoteValue } from '../contracts/check.ts';
import { AssayError } from '../contracts/errors.ts';
import { MAX_GROUP_ROUTES } from './models-file/mod.ts';

/** A model of a provider. */
type Named = { provider: string; model: string };

/** The models and groups that a list may name. */
export type ModelListOptions<Model extends Named, Group extends readonly unknown[]> = {
  /** Finds one model; throws an AssayError when it cannot be called. */
  find(name: string): Model;
  /** Groups by id. */
  groups: ReadonlyMap<string, Group>;
};

/** Models of a list, groups expanded: as many as one group may have. */
export const MAX_MODELS = MAX_GROUP_ROUTES;
/** Characters: ten of the longest names, with room for spaces. */
export const LONGEST_LIST = 3_000;

/**
 * Returns the models and groups in the order of the text.
 * @throws AssayError invalid_body for a list that breaks a rule, with a sentence that begins with `model`; any error of
 *   `find`
 */
export function readModelList<Model extends Named, Group extends readonly unknown[]>(
  text: string,
  { find, groups }: ModelListOptions<Model, Group>,
): (Model | Group)[] {
  const names = text.includes(',') ? namesIn(text) : [text];
  const found = names.map((name) => groups.get(name) ?? find(name));
  refuseRepeats(names, found);
  refuseLong(found);
  return found;
}

/** Returns the key of a model, the same for all its names: `gpt-4o` is `openai/gpt-4o`. Its space keeps it apart from groups' ids. */
export function modelKey({ provider, model }: Named): string {
  return `${provider} ${model}`;
}

function namesIn(list: string): string[] {
  if (list.length > LONGEST_LIST) {
    throw new AssayError(
      'invalid_body',
      `model must have at most ${LONGEST_LIST} characters, but has ${list.length}`,
    );
  }
  const names = list.split(',').map((name) => name.trim());
  const empty = names.indexOf('');
  if (empty === -1) return names;
  throw new AssayError(
    'invalid_body',
    `model must be one model or a list of models separated by commas, but entry ${empty + 1} of ${quoteValue(list)} is empty`,
  );
}

type Found = Named | readonly unknown[];

function isGroup(found: Found): found is readonly unknown[] {
  return Array.isArray(found);
}

function refuseRepeats(names: readonly string[], found: readonly Found[]): void {
  const first = new Map<string, string>();
  for (const [index, one] of found.entries()) {
    const name = names[index]!;
    const key = isGroup(one) ? name : modelKey(one);
    const earlier = first.get(key);
    if (earlier !== undefined) throw repeated(earlier, name);
    first.set(key, name);
  }
}

function repeated(earlier: string, name: string): AssayError {
  const problem =
    earlier === name
      ? `${quoteValue(name)} occurs twice`
      : `${quoteValue(earlier)} and ${quoteValue(name)} are the same`;
  return new AssayError('invalid_body', `model must list each model once, but ${problem}`);
}

function refuseLong(found: readonly Found[]): void {
  const count = found.reduce((sum, one) => sum + (isGroup(one) ? one.length : 1), 0);
  if (count <= MAX_MODELS) return;
  throw new AssayError(
    'invalid_body',
    `model must list at most ${MAX_MODELS} models, including those of groups, but lists ${count}`,
  );
}
