/** A gateway with ingest in this process, a real database and a scripted provider: the log path from end to end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '#platform/postgres/mod.ts';
import type { ScriptedProvider } from './scripted-provider.ts';
import { createWorld, type Owner } from './world.ts';

/** A record as Postgres has it, with its bodies. */
export type StoredRecord = {
  request_id: string;
  status: number;
  provider: string;
  model: string;
  request_model: string | null;
  response_model: string | null;
  response_id: string | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  cost_nano: string | null;
  user_id: string | null;
  session_id: string | null;
  request_properties: Record<string, string> | null;
  is_stream: boolean;
  truncated: boolean;
  error_code: string | null;
  latency_ms: number;
  ttft_ms: number | null;
  request_text: string;
  response_text: string;
  request_raw: Buffer | null;
  response_raw: Buffer | null;
};

export type TestGateway = {
  /** `http://127.0.0.1:port` */
  url: string;
  /** All scopes, of an organization whose calls are all logged, however many come in a second. */
  key: string;
  organizationId: string;
  sql: Sql;
  provider: ScriptedProvider;
  dataDir: string;
  /** POSTs a chat completion; `body` may be anything, a string goes out as it is. */
  chat(body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The record of an answer, once it is stored; fails after 30 s. */
  record(answer: Response | string): Promise<StoredRecord>;
};

const FOUND_WITHIN_MS = 30_000;

/** Starts it all, until the test ends; `environment` overrides configuration variables. */
export async function startTestGateway(
  owner: Owner,
  environment: Record<string, string> = {},
): Promise<TestGateway> {
  const world = await createWorld(owner);
  const { sql } = world;
  const provider = await world.provider();
  const { organizationId, keyWith } = await world.organization({ name: 'acme', tier: 'enterprise' });
  const key = await keyWith(['gateway', 'read', 'write']);
  const settings = { OPENAI_API_KEY: 'sk-operator', OPENAI_BASE_URL: provider.url, ...environment };
  // Stopped after the gateway, and on its data directory.
  const { dataDir } = await world.start('ingest', settings);
  const { url } = await world.start('gateway', { ...settings, DATA_DIR: dataDir });

  const chat = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    });

  const record = async (answer: Response | string): Promise<StoredRecord> => {
    const id = typeof answer === 'string' ? answer : answer.headers.get('service-request-id')!;
    const deadline = Date.now() + FOUND_WITHIN_MS;
    for (;;) {
      const rows = await sql<StoredRecord[]>`
        select * from assay.requests join assay.bodies using (organization_id, created_at, request_id)
         where request_id = ${id}`;
      if (rows.length > 0) return rows[0]!;
      if (Date.now() > deadline) throw new Error(`No record of ${id} within ${FOUND_WITHIN_MS} ms`);
      await sleep(10);
    }
  };

  return { url, key, sql, organizationId, provider, dataDir, chat, record };
}
