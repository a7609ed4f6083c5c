/** Calls of the routes of grades, expected to succeed. */
import type { TestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

export type ShownGrade = {
  id: string;
  request_id: string;
  criterion_id: string;
  author: string | null;
  key_id: string;
  value: boolean | number | string;
  comment: string | null;
  graded_at: string;
  history: { value: boolean | number | string; graded_at: string; ended_at: string }[];
};

export const BOOLEAN = { type: 'boolean' };
export const SCALE = { type: 'scale', min: 1, max: 5, step: 1 };
export const LABELS = {
  type: 'categories',
  labels: [
    { label: 'bad', score: 0 },
    { label: 'fair', score: 0.4 },
    { label: 'good', score: 1 },
  ],
};

type Call = { method?: string; key?: string };

/** `POST` with a body, else `GET`, unless told otherwise. */
export async function ask<T>(api: TestApi, path: string, body?: unknown, call: Call = {}): Promise<T> {
  const answer = await api.call(path, { ...call, ...(body === undefined ? {} : { body }) });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
  return answer.body.data as T;
}

let names = 0;

/** Makes a criterion, under a name of its own unless given one; returns its id. */
export async function criterion(api: TestApi, kind: object = BOOLEAN, given: object = {}): Promise<string> {
  names += 1;
  const body = { name: `criterion ${names}`, kind, ...given };
  return (await ask<{ id: string }>(api, '/v1/criterion', body)).id;
}

/** Seeds requests of the own organization that are not young, the oldest first; returns their ids. */
export async function requests(api: TestApi, count: number, given: object = {}): Promise<string[]> {
  const beginMs = Date.now() - 60_000;
  const rows = await insertRequests(
    api.database.sql,
    api.own.organizationId,
    Array.from({ length: count }, (_, index) => ({ created_at: new Date(beginMs + index), ...given })),
  );
  return rows.map(({ request_id }) => request_id);
}

export function grade(
  api: TestApi,
  requestId: string,
  criterionId: string,
  value: unknown,
  given: object = {},
  key?: string,
): Promise<ShownGrade> {
  const body = { criterionId, value, ...given };
  return ask(api, `/v1/request/${requestId}/grade`, body, {
    method: 'PUT',
    ...(key === undefined ? {} : { key }),
  });
}

export function gradesOf(api: TestApi, requestId: string): Promise<ShownGrade[]> {
  return ask(api, `/v1/request/${requestId}/grades`);
}
