/** The management API on a real socket over a real database, with two organizations to tell apart. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '#platform/config/mod.ts';
import { createKey, createOrganization, type Scope } from '#platform/keys/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { startApi } from '../../api/mod.ts';
import { checkContract } from './api-contract.ts';
import { type TestDatabase, testDatabase } from './postgres.ts';

export type Answer = {
  status: number;
  headers: Headers;
  text: string;
  body: { data: unknown; error: string | null };
};

export type CallOptions = {
  method?: string;
  key?: string | null;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  raw?: string | Uint8Array;
  contentType?: string | null;
  headers?: Record<string, string>;
};

export type TestOrganization = {
  organizationId: string;
  key: string;
  keyWith(scopes: Scope[]): Promise<string>;
};

export type TestApi = {
  database: TestDatabase;
  url: string;
  dataDir: string;
  /** The caller's organization, and another one. */
  own: TestOrganization;
  other: TestOrganization;
  /** Calls with the own organization's key unless told otherwise. Throws where a response is not as its route declares. */
  call(path: string, options?: CallOptions): Promise<Answer>;
  /** `POST /v1/request/query`, expected to succeed. */
  query(body: object, key?: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
};

async function organization(database: TestDatabase, name: string): Promise<TestOrganization> {
  const { organizationId } = await createOrganization(database.sql, { name });
  const keyWith = async (scopes: Scope[]) => (await createKey(database.sql, { organizationId, scopes })).key;
  return { organizationId, key: await keyWith(['read', 'write']), keyWith };
}

export type TestApiOptions = { database?: TestDatabase; environment?: Record<string, string> };

/**
 * Starts it, on a fresh database unless one is given; closes that too. `environment` overrides configuration variables.
 */
export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const database = options.database ?? (await testDatabase());
  const own = await organization(database, 'own');
  const other = await organization(database, 'other');
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-api-'));
  const read = readConfig({
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    API_PORT: '0',
    LOG_LEVEL: 'silent',
    SHUTDOWN_TIMEOUT_MS: '500',
    ...options.environment,
  });
  if (!read.ok) throw new Error(read.problems.join('; '));
  const log = createLogger({ role: 'api', level: 'silent' });
  const api = await startApi({ config: read.config, log, clock: systemClock });
  const url = api.address ?? '';

  async function call(path: string, given: CallOptions = {}): Promise<Answer> {
    const headers: Record<string, string> = { ...given.headers };
    const key = given.key === undefined ? own.key : given.key;
    if (key !== null) headers.authorization = `Bearer ${key}`;
    const body = given.raw ?? (given.body === undefined ? undefined : JSON.stringify(given.body));
    const contentType = given.contentType === undefined ? 'application/json' : given.contentType;
    if (body !== undefined && contentType !== null) headers['content-type'] = contentType;
    const method = given.method ?? (body === undefined ? 'GET' : 'POST');
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : null,
    };
    checkContract({ method, path }, answer);
    return answer;
  }

  return {
    database,
    url,
    dataDir,
    own,
    other,
    call,
    async query(body, key) {
      const answer = await call('/v1/request/query', { body, ...(key === undefined ? {} : { key }) });
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
      return answer.body.data as Record<string, unknown>[];
    },
    async close() {
      await api.stop();
      rmSync(dataDir, { recursive: true, force: true });
      // The server ends the sessions of a closed pool a moment later; a database in use cannot be dropped quietly.
      await sleep(20);
      await database.close();
    },
  };
}
