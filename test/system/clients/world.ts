/** The running product as a client's test sees it: an address, a key, providers behind it, and what was logged. */
import type { Test } from 'tap';
import { type Assay, type Runtime, startAssay, waitFor } from '../../support/assay.ts';
import { type ScriptedProvider, startScriptedProvider } from '../../support/scripted-provider.ts';
import { ANTHROPIC_KEY, anthropicScript } from './models/messages.ts';
import { openAiScript } from './models/openai.ts';
import type { Delivery, LoggedRequest, Place } from './records.ts';

/** One thing a client does: its calls carry a property of their own, by which they are found. */
export type Case = {
  headers: Record<string, string>;
  /** The records of this case, oldest first, once there are `count`. */
  logged(count: number): Promise<LoggedRequest[]>;
};

export type World = {
  assay: Assay;
  /** OpenAI. */
  provider: ScriptedProvider;
  anthropic: ScriptedProvider;
  /** A provider that only tests with a script of their own call, as `custom/…`. */
  custom: ScriptedProvider;
  /** With `/v1`, as clients want it. */
  baseUrl: string;
  apiKey: string;
  newCase(name: string): Case;
  query<T>(path: string, body: unknown): Promise<T>;
  /** Every case has as many records as it asked for, now that all is over. */
  checkNoneTwice(t: Test): Promise<void>;
};

/** Long for a machine that does much else: how soon a record is findable is measured by the benchmark. */
const FINDABLE_WITHIN_MS = 30_000;

/** How much of the services' own log a failure shows. */
const LOG_TAIL = 3_000;

async function startProviders() {
  const [provider, anthropic, custom] = await Promise.all([
    startScriptedProvider(),
    startScriptedProvider(),
    startScriptedProvider(),
  ]);
  provider.script(openAiScript);
  anthropic.script(anthropicScript);
  const environment = {
    OPENAI_BASE_URL: provider.url,
    OPENAI_API_KEY: 'sk-operator',
    ANTHROPIC_BASE_URL: anthropic.url.replace(/\/v1$/, ''),
    ANTHROPIC_API_KEY: ANTHROPIC_KEY,
    CUSTOM_BASE_URL: custom.url,
    CUSTOM_API_KEY: 'sk-custom',
  };
  const stop = () => Promise.all([provider.stop(), anthropic.stop(), custom.stop()]);
  return { provider, anthropic, custom, environment, stop };
}

/** Starts everything under `runtime`; it stops when the test ends. */
export async function startWorld(t: Test, runtime: Runtime): Promise<World> {
  const { provider, anthropic, custom, environment, stop } = await startProviders();
  const assay = await startAssay({ runtime, environment });
  t.teardown(async () => {
    await assay.stop();
    await stop();
  });
  const apiKey = assay.key ?? '';
  const expected = new Map<string, number>();

  const ask = async <T>(path: string, init: RequestInit): Promise<T> => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const response = await fetch(assay.apiUrl + path, { ...init, headers });
    const { data, error } = (await response.json()) as { data: T; error: string | null };
    if (error !== null) throw new Error(`${path}: ${error}\n${assay.stderr().slice(-LOG_TAIL)}`);
    return data;
  };
  const query = <T>(path: string, body: unknown) =>
    ask<T>(path, { method: 'POST', body: JSON.stringify(body) });
  const find = (name: string) =>
    query<Omit<LoggedRequest, 'delivery'>[]>('/v1/request/query', {
      filter: { properties: { Case: { equals: name } } },
      sort: { created_at: 'asc' },
      limit: 100,
    });
  const withDelivery = async (record: Omit<LoggedRequest, 'delivery'>) => ({
    ...record,
    delivery: await ask<Delivery>(`/v1/request/${record.request_id}/delivery`, {}),
  });

  return {
    assay,
    provider,
    anthropic,
    custom,
    baseUrl: `${assay.gatewayUrl}/v1`,
    apiKey,
    query,
    newCase: (name) => ({
      headers: { 'Service-Property-Case': name },
      logged: async (count) => {
        expected.set(name, count);
        await waitFor(
          `the record of "${name}"`,
          async () => (await find(name)).length >= count,
          FINDABLE_WITHIN_MS,
        );
        return Promise.all((await find(name)).map(withDelivery));
      },
    }),
    checkNoneTwice: async (t) => {
      const check = async ([name, count]: [string, number]) => {
        const times = count === 1 ? 'once' : `${count} times`;
        t.equal((await find(name)).length, count, `"${name}" is recorded exactly ${times}`);
      };
      await Promise.all([...expected].map(check));
    },
  };
}

/** The provider that answers there. */
export function providerOf(world: World, { provider }: Place): ScriptedProvider {
  return provider === 'ANTHROPIC' ? world.anthropic : world.provider;
}

/** Everything that a stream brings. */
export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
