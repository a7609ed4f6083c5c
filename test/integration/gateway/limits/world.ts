/** Gateways on one database, each with ingest and an outbox of its own, before one scripted provider. */
import OpenAI from 'openai';
import type { Test } from 'tap';
import { createKey } from '#platform/keys/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import type { ScriptedProvider } from '../../../support/scripted-provider.ts';
import type { TcpProxy } from '../../../support/tcp-proxy.ts';
import { createWorld } from '../../../support/world.ts';

/** What these tests read of a record. */
export type LimitedRecord = {
  request_id: string;
  status: number;
  error_code: string | null;
  cost_nano: string | null;
  cached_from: string | null;
  total_tokens: number | null;
  is_stream: boolean;
  truncated: boolean;
  response_text: string;
};

export type Headers = Record<string, string>;

export type Gateway = {
  url: string;
  /** POSTs a chat completion; a string goes out as it is. */
  chat(key: string, headers?: Headers, body?: unknown, signal?: AbortSignal): Promise<Response>;
  client(key: string, headers?: Headers): OpenAI;
  /** The value of one of its metrics. */
  metric(name: string): Promise<number>;
  /** SIGTERM's way; its outbox stays for the next on the same directory. */
  stop(): Promise<void>;
};

export type LimitsWorld = {
  sql: Sql;
  provider: ScriptedProvider;
  /** Between every gateway and Postgres; ingest has a way of its own. */
  proxy: TcpProxy;
  /** The first gateway. */
  gateway: Gateway;
  /** Another one; on the outbox of `dataDir`, when given. */
  start(dataDir?: string): Promise<Gateway>;
  dataDir: string;
  newOrganization(options?: { logsPer5s?: number }): Promise<string>;
  /** A key of its own, so that no test uses another's counters; of the world's organization unless told otherwise. */
  newKey(options?: { organizationId?: string; rateLimitPolicy?: string }): Promise<string>;
  idsOf(key: string): { organizationId: string; keyId: string };
  /** The records of a key, oldest first, once there are `count`. */
  records(key: string, count: number): Promise<LimitedRecord[]>;
};

export const MODEL = 'gpt-4o-mini';
/** Nano-dollars a token, by OpenAI's price list. */
export const PRICE = { prompt: 150, completion: 600 };

export const CHAT = { model: MODEL, messages: [{ role: 'user' as const, content: 'Hello' }] };
export const STREAM = { ...CHAT, stream: true };

/** The headers of an answer that tell of a limit, by their names in lower case. */
export function limitHeaders(answer: { headers: globalThis.Headers }): Headers {
  const told = [...answer.headers].filter(
    ([name]) => /^(service-)?ratelimit/.test(name) || name === 'retry-after' || name === 'x-should-retry',
  );
  return Object.fromEntries(told);
}

export const remainingOf = (answer: Response) => Number(answer.headers.get('service-ratelimit-remaining'));

/** Whole, so that its connection is free and its record made. */
export async function readAll(answer: Response): Promise<{ status: number; text: string; headers: Headers }> {
  return { status: answer.status, text: await answer.text(), headers: Object.fromEntries(answer.headers) };
}

/** Starts one gateway, and what it needs; all of it stops when the test ends. */
export async function startLimitsWorld(t: Test, environment: Headers = {}): Promise<LimitsWorld> {
  const world = await createWorld(t);
  const { sql } = world;
  const provider = await world.provider();
  const proxy = await world.proxy();
  let warmKey: string | undefined;

  async function start(dataDir = world.directory()): Promise<Gateway> {
    const settings = {
      DATA_DIR: dataDir,
      OPENAI_API_KEY: 'sk-operator',
      OPENAI_BASE_URL: provider.url,
      ...environment,
    };
    const ingest = await world.start('ingest', settings);
    const gateway = await world.start('gateway', { ...settings, DATABASE_URL: proxy.url });
    const stop = async () => {
      await gateway.stop();
      await ingest.stop();
    };
    const { url } = gateway;
    const started: Gateway = {
      url,
      stop,
      chat: (key, headers = {}, body = CHAT, signal) =>
        fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
          body: typeof body === 'string' ? body : JSON.stringify(body),
          ...(signal !== undefined && { signal }),
        }),
      client: (apiKey, defaultHeaders = {}) => new OpenAI({ baseURL: `${url}/v1`, apiKey, defaultHeaders }),
      metric: async (name) => {
        const text = await (await fetch(`${url}/metrics`)).text();
        const found = new RegExp(`^assay_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text);
        if (found === null) throw new Error(`There is no metric ${name}`);
        return Number(found[1]);
      },
    };
    await warmUp(started);
    return started;
  }

  /**
   * The first questions to Postgres open connections, which on a busy machine takes longer than a call waits for them:
   * asks until they are answered in time.
   */
  async function warmUp(gateway: Gateway): Promise<void> {
    const policy = { 'Service-RateLimit-Policy': '1000000;w=60;s=user' };
    warmKey ??= await newKey();
    const key = warmKey;
    await waitFor('the counters to answer in time', async () => {
      const calls = Array.from({ length: 8 }, async (_, index) =>
        readAll(await gateway.chat(key, { ...policy, 'Service-User-Id': `warm-${index}` })),
      );
      return (await Promise.all(calls)).every(({ headers }) => !('service-ratelimit-degraded' in headers));
    });
  }

  const newOrganization = async (options: { logsPer5s?: number } = {}) =>
    (await world.organization({ tier: 'enterprise', ...options })).organizationId;
  const own = await newOrganization();
  const dataDir = world.directory();
  const known = new Map<string, { organizationId: string; keyId: string }>();
  const idsOf = (key: string) => known.get(key)!;

  async function newKey({
    organizationId = own,
    rateLimitPolicy,
  }: {
    organizationId?: string;
    rateLimitPolicy?: string;
  } = {}): Promise<string> {
    const { key, record } = await createKey(sql, {
      organizationId,
      scopes: ['gateway'],
      ...(rateLimitPolicy !== undefined && { rateLimitPolicy }),
    });
    known.set(key, { organizationId, keyId: record.keyId });
    return key;
  }

  const readRecords = (key: string) => sql<LimitedRecord[]>`
    select r.request_id, r.status, r.error_code, r.cost_nano, r.cached_from, r.total_tokens, r.is_stream, r.truncated,
           b.response_text
      from assay.requests r join assay.bodies b using (organization_id, created_at, request_id)
     where r.api_key_id = ${idsOf(key).keyId} order by r.created_at, r.request_id`;

  return {
    sql,
    provider,
    proxy,
    dataDir,
    start,
    gateway: await start(dataDir),
    newOrganization,
    newKey,
    idsOf,
    records: async (key, count) => {
      await waitFor(`${count} records`, async () => (await readRecords(key)).length >= count);
      return readRecords(key);
    },
  };
}
