/** A gateway with ingest in this process, a real database and a scripted provider: the log path from end to end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '#platform/config/mod.ts';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { startGateway } from '../../gateway/mod.ts';
import { startIngest } from '../../ingest/mod.ts';
import { testDatabase } from './postgres.ts';
import { type ScriptedProvider, startScriptedProvider } from './scripted-provider.ts';

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
  /** All scopes. */
  key: string;
  sql: Sql;
  provider: ScriptedProvider;
  dataDir: string;
  /** POSTs a chat completion; `body` may be anything, a string goes out as it is. */
  chat(body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The record of an answer, once it is stored; fails after five seconds. */
  record(answer: Response | string): Promise<StoredRecord>;
  [Symbol.asyncDispose](): Promise<void>;
};

const FOUND_WITHIN_MS = 30_000;

/** Starts it all; `environment` overrides configuration variables. */
export async function startTestGateway(environment: Record<string, string> = {}): Promise<TestGateway> {
  const database = await testDatabase();
  const provider = await startScriptedProvider();
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-gateway-'));
  const read = readConfig({
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    GATEWAY_PORT: '0',
    API_PORT: '0',
    OPENAI_API_KEY: 'sk-operator',
    OPENAI_BASE_URL: provider.url,
    ...environment,
  });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const options = {
    config: read.config,
    log: createLogger({ role: 'test', level: 'silent' }),
    clock: systemClock,
  };
  const organization = await createOrganization(database.sql, { name: 'acme' });
  const { key } = await createKey(database.sql, {
    organizationId: organization.organizationId,
    scopes: ['gateway', 'read', 'write'],
  });
  const gateway = await startGateway(options);
  const ingest = await startIngest(options);
  const url = gateway.address!;

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
      const rows = await database.sql<StoredRecord[]>`
        select * from assay.requests join assay.request_bodies using (organization_id, created_at, request_id)
         where request_id = ${id}`;
      if (rows.length > 0) return rows[0]!;
      if (Date.now() > deadline) throw new Error(`No record of ${id} within ${FOUND_WITHIN_MS} ms`);
      await sleep(10);
    }
  };

  return {
    url,
    key,
    sql: database.sql,
    provider,
    dataDir,
    chat,
    record,
    [Symbol.asyncDispose]: async () => {
      await gateway.stop();
      await ingest.stop();
      await provider.stop();
      await database.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
