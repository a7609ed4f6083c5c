/** The management API on a real socket over a real database, with two organizations to tell apart. */
import { setTimeout as sleep } from 'node:timers/promises';
import { checkContract } from './api-contract.ts';
import { createWorld, type Database, type TestOrganization as Organization, type Owner } from './world.ts';

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

export type TestOrganization = Organization & {
  /** Of the scopes `read` and `write`. */
  key: string;
};

export type TestApi = {
  database: Database;
  url: string;
  dataDir: string;
  /** The caller's organization, and another one. */
  own: TestOrganization;
  other: TestOrganization;
  /** Calls with the own organization's key unless told otherwise. Throws where a response is not as its route declares. */
  call(path: string, options?: CallOptions): Promise<Answer>;
  /** `POST /v1/request/query`, expected to succeed. */
  query(body: object, key?: string): Promise<Record<string, unknown>[]>;
  /** Stops it before its test ends. */
  stop(): Promise<void>;
};

export type TestApiOptions = { database?: Database; environment?: Record<string, string> };

/**
 * Starts it, until the test ends, on a fresh database or on one that its creator closes. `environment` overrides
 * configuration variables.
 */
export async function startTestApi(owner: Owner, options: TestApiOptions = {}): Promise<TestApi> {
  const world = await createWorld(owner, options.database);
  const { database } = world;
  const organization = async (name: string) => {
    const created = await world.organization({ name });
    return { ...created, key: await created.keyWith(['read', 'write']) };
  };
  const own = await organization('own');
  const other = await organization('other');
  // The server ends the sessions of a closed pool a moment later; a database in use cannot be dropped quietly.
  owner.teardown(() => sleep(20));
  const { url, dataDir, stop } = await world.start('api', options.environment);

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
    stop,
    async query(body, key) {
      const answer = await call('/v1/request/query', { body, ...(key === undefined ? {} : { key }) });
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
      return answer.body.data as Record<string, unknown>[];
    },
  };
}
