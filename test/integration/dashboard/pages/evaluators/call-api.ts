/** Calls of the API beside the page, for what a story finds when it begins. */
import type { Product, StoryOrganization } from '../../../../support/browser/product.ts';

export type CallApi = <T>(method: string, path: string, body?: unknown) => Promise<T>;

/** Returns a function that calls the API with the story's key, and returns the `data` of its answer. */
export function callApiOf({ url }: Product, { key }: StoryOrganization): CallApi {
  return async <T>(method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { data, error } = (await response.json()) as { data: T; error: string | null };
    if (error !== null) throw new Error(`${method} ${path}: ${error}`);
    return data;
  };
}

/** Makes a judge that answers yes or no. */
export function makeJudge(
  callApi: CallApi,
  { name = 'Polite', prompt = 'Is {{output}} polite?' } = {},
): Promise<{ id: string }> {
  return callApi('POST', '/v1/evaluator', {
    name,
    scoring_type: 'LLM-BOOLEAN',
    llm_template: { model: 'gpt-4o-mini', prompt },
  });
}
