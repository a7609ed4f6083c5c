/** The API, and what was logged with it brought to the store as ingest does. */
import { join } from 'node:path';
import type { Test } from 'tap';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { Drain } from '../../../../ingest/drain.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';

export const LOG = '/v1/log/request';
const log = createLogger({ role: 'test', level: 'silent' });

export const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-mini-2024-07-18',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 },
};
export const BEGUN = '2026-03-01T12:00:00.000Z';
export const ENDED = '2026-03-01T12:00:01.250Z';

/** The least that can be logged, and more. */
export const call = (more: object = {}, response: object = {}) => ({
  provider: 'openai',
  model: 'gpt-4o-mini',
  request: { body: { messages: [{ role: 'user', content: 'Hello' }] }, created_at: BEGUN },
  response: { body: ANSWER, status: 200, created_at: ENDED, ...response },
  ...more,
});

export type LogWorld = {
  api: TestApi;
  /** Stores what is in the outbox now, as ingest would. */
  ingest(from?: TestApi): Promise<void>;
  /** Logs it, expecting success; returns the request's id. */
  logged(body: object, key?: string): Promise<string>;
  /** Logs, stores and fetches. */
  record(body: object): Promise<Record<string, unknown>>;
};

/** Starts the API; it stops with the tests of the file. */
export async function startLogWorld(t: Test): Promise<LogWorld> {
  const api = await startTestApi(t);

  async function ingest(from: TestApi = api): Promise<void> {
    const root = join(from.dataDir, 'outbox');
    const drain = new Drain({
      root,
      sql: from.database.sql,
      log,
      clock: systemClock,
      retentionDays: null,
      onStored: () => {},
    });
    drain.stop();
    await drain.run();
  }

  async function logged(body: object, key?: string): Promise<string> {
    const answer = await api.call(LOG, { body, ...(key === undefined ? {} : { key }) });
    const id = /^\{"data":\{"request_id":"([^"]+)"\},"error":null\}$/.exec(answer.text)?.[1];
    if (answer.status !== 200 || id === undefined) throw new Error(`${answer.status} ${answer.text}`);
    return id;
  }

  async function record(body: object): Promise<Record<string, unknown>> {
    const id = await logged(body);
    await ingest();
    return (await api.call(`/v1/request/${id}`)).body.data as Record<string, unknown>;
  }

  return { api, ingest, logged, record };
}
