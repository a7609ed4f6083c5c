/** Calls of the API beside the page of a story. */
import type { Stage } from '../../../support/browser/mod.ts';

/** Calls the API with a key of the story's organization that may read and write, and returns the `data` of a success. */
export async function callAs<T>(
  { organization, product }: Pick<Stage, 'organization' | 'product'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const key = await organization.keyWith(['gateway', 'read', 'write']);
  const response = await fetch(`${product.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  const { data } = (await response.json()) as { data: T };
  return data;
}
