/** Calls of the routes of datasets, expected to succeed. */
import type { TestApi } from '../../../support/api.ts';

export const PATH = '/v1/dataset';

/** An item as it is sent, and as an answer shows it. */
export type Item = {
  id?: string;
  externalId?: string;
  request: object;
  expected?: unknown;
  metadata?: object;
  split?: string;
  cluster?: string;
  sourceRequestId?: string;
};
export type Changes = { version: number; added: number; changed: number; unchanged: number; removed: number };
export type Page = { items: (Item & { id: string; erased?: true })[]; next: string | null };
export type Version = { version: number; items: number; message: string; content_sha256: string };
export type Dataset = {
  id: string;
  name: string;
  version: number;
  items: number;
  archived_at: string | null;
};

/** Calls, and returns the data: `POST`, or `GET` without a body. */
export async function ask<T>(api: TestApi, path: string, body?: object, method?: string): Promise<T> {
  const answer = await api.call(`${PATH}${path}`, {
    ...(body === undefined ? {} : { body }),
    ...(method === undefined ? {} : { method }),
  });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
  return answer.body.data as T;
}

let names = 0;

/** Makes a dataset, under a name of its own unless given one; returns its id. */
export async function create(api: TestApi, given: object = {}): Promise<string> {
  names += 1;
  return (await ask<{ id: string }>(api, '', { name: `dataset ${names}`, ...given })).id;
}

/** Returns an item that asks `text`. */
export function asking(text: string, rest: Omit<Item, 'request'> = {}): Item {
  return { request: { messages: [{ role: 'user', content: text }] }, ...rest };
}

export function put(api: TestApi, id: string, items: Item[], rest: object = {}): Promise<Changes> {
  return ask(api, `/${id}/items`, { items, ...rest });
}

/** Returns all items of a version, page by page. */
export async function itemsOf(api: TestApi, id: string, query: object = {}): Promise<Page['items']> {
  const all: Page['items'] = [];
  let after: string | null = null;
  do {
    const page: Page = await ask<Page>(api, `/${id}/items/query`, {
      limit: 200,
      ...query,
      ...(after === null ? {} : { after }),
    });
    all.push(...page.items);
    after = page.next;
  } while (after !== null);
  return all;
}

export async function versionsOf(api: TestApi, id: string): Promise<Version[]> {
  return (await ask<{ versions: Version[] }>(api, `/${id}/versions?limit=200`)).versions;
}

/** Returns the status and the sentence of a call that is refused. */
export async function refusal(
  api: TestApi,
  path: string,
  options: Parameters<TestApi['call']>[1],
): Promise<[number, string | null]> {
  const { status, body } = await api.call(`${PATH}${path}`, options);
  return [status, body.error];
}
