/** A gateway with a cache, and calls that may be answered from it. */
import type { Test } from 'tap';
import { waitFor } from '../../../support/assay.ts';
import {
  CHAT,
  type Gateway,
  type Headers,
  type LimitsWorld,
  readAll,
  startLimitsWorld,
} from '../limits/world.ts';

export const CACHED = { 'Service-Cache-Enabled': 'true' };

export type Given = { cache: string | undefined; text: string; id: string; status: number; headers: Headers };

export type CachedWorld = LimitsWorld & {
  key: string;
  /** From now on, until the end of the test, the provider's answers tell which call they were made for. */
  countAnswers(): void;
  /** Calls with the cache enabled, and reads all of the answer. */
  call(body: object | string, headers?: Headers, as?: string, at?: Gateway): Promise<Given>;
  /** What the header `Service-Cache` of the answer says. */
  cacheOf(body: object | string, headers?: Headers, as?: string): Promise<string | undefined>;
  /** Resolves once other gateways can find an answer. */
  written(given: Given): Promise<void>;
};

let asked = 0;
/** A body that no other test of the file has sent. */
export const fresh = (more: object = {}) => {
  asked += 1;
  return { ...CHAT, messages: [{ role: 'user', content: `Question ${asked}` }], ...more };
};

/** Starts it; after each test the provider has no script. */
export async function startCachedWorld(t: Test): Promise<CachedWorld> {
  const world = await startLimitsWorld(t, { PROVIDER_IDLE_TIMEOUT_MS: '400' });
  const { gateway, provider } = world;
  const key = await world.newKey();
  t.afterEach(() => provider.script(null));

  let answered = 0;
  function countAnswers(): void {
    provider.script((request) => {
      answered += 1;
      const text = `Answer ${answered}`;
      return request.body.includes('"stream":true')
        ? { kind: 'stream', deltas: ['Answer ', String(answered)] }
        : { kind: 'answer', text };
    });
  }

  async function call(
    body: object | string,
    headers: Headers = {},
    as = key,
    at: Gateway = gateway,
  ): Promise<Given> {
    const {
      status,
      text,
      headers: given,
    } = await readAll(await at.chat(as, { ...CACHED, ...headers }, body));
    return {
      cache: given['service-cache'],
      text,
      id: given['service-request-id'] ?? '',
      status,
      headers: given,
    };
  }

  const cacheOf = async (...parameters: Parameters<typeof call>) => (await call(...parameters)).cache;

  async function written({ id }: Given): Promise<void> {
    const isWritten = async () => {
      const [row] = await world.sql`select 1 from assay.cached_answers where request_id = ${id}`;
      return row !== undefined;
    };
    await waitFor('the answer to be written', isWritten);
  }

  return { ...world, key, countAnswers, call, cacheOf, written };
}
