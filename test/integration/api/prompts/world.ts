/** Calls of the routes of prompts, expected to succeed. */
import type { TestApi } from '../../../support/api.ts';

export const PATH = '/v1/prompt-2025';

export type NewPrompt = { id: string; versionId: string };

/** A version as an answer shows it. */
export type ShownVersion = {
  id: string;
  model: string | null;
  prompt_id: string;
  major_version: number;
  minor_version: number;
  commit_message: string;
  environments: string[];
  variables: { name: string; type: string | null }[];
  created_at: string;
  prompt_body: unknown;
  s3_url: string;
};

export const BODY = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello {{name}}' }] };

/** `POST`, or `GET` without a body. */
export async function ask<T>(api: TestApi, path: string, body?: object, key = api.own.key): Promise<T> {
  const answer = await api.call(path, { key, ...(body === undefined ? {} : { body }) });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
  return answer.body.data as T;
}

let names = 0;

/** Stores a prompt, under a name of its own unless given one. */
export function create(api: TestApi, given: object = {}): Promise<NewPrompt> {
  names += 1;
  return ask(api, PATH, { name: `prompt ${names}`, tags: [], promptBody: BODY, ...given });
}

/** Stores the next version; returns its id. */
export async function update(
  api: TestApi,
  { id, versionId }: NewPrompt,
  given: object = {},
): Promise<string> {
  const body = { promptId: id, promptVersionId: versionId, newMajorVersion: false, commitMessage: '' };
  return (await ask<{ id: string }>(api, `${PATH}/update`, { ...body, promptBody: BODY, ...given })).id;
}

export function version(api: TestApi, promptVersionId: string): Promise<ShownVersion> {
  return ask(api, `${PATH}/query/version`, { promptVersionId });
}

export function versions(api: TestApi, promptId: string, rest: object = {}): Promise<ShownVersion[]> {
  return ask(api, `${PATH}/query/versions`, { promptId, ...rest });
}

/** Returns the number of a version, such as `1.2`. */
export const numberOf = ({ major_version, minor_version }: ShownVersion) =>
  `${major_version}.${minor_version}`;
