/** The running product as a client's test sees it: an address, a key, a provider behind it, and what was logged. */
import type { Test } from 'tap';
import { type Assay, type Runtime, startAssay, waitFor } from '../../support/assay.ts';
import { type ScriptedProvider, startScriptedProvider } from '../../support/scripted-provider.ts';

/** What these tests read of a request record. */
export type LoggedRequest = {
  request_id: string;
  request_model: string | null;
  request_body: { messages?: { content?: string }[] };
  response_status: number;
  response_body: { choices?: { message: { content: string | null; tool_calls?: unknown[] } }[] };
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  time_to_first_token: number | null;
  delay_ms: number | null;
  cost: number | null;
};

/** One thing a client does: its calls carry a property of their own, by which they are found. */
export type Case = {
  headers: Record<string, string>;
  /** The records of this case, oldest first, once there are `count`. */
  logged(count: number): Promise<LoggedRequest[]>;
};

export type World = {
  assay: Assay;
  provider: ScriptedProvider;
  /** With `/v1`, as clients want it. */
  baseUrl: string;
  apiKey: string;
  newCase(name: string): Case;
  query<T>(path: string, body: unknown): Promise<T>;
  /** Every case has as many records as it asked for, now that all is over. */
  checkNoneTwice(t: Test): Promise<void>;
};

/** A record must be findable this soon after its answer. */
const FINDABLE_WITHIN_MS = 5_000;

/** How much of the services' own log a failure shows. */
const LOG_TAIL = 3_000;

/** The model that these tests call: a known price, so that cost can be checked. */
export const MODEL = 'gpt-4o-mini';
const USD_PER_TOKEN = { prompt: 0.15e-6, completion: 0.6e-6 };

/** What a call of `MODEL` costs, in USD, by OpenAI's price list. */
export function costOf(promptTokens: number, completionTokens: number): number {
  const usd = promptTokens * USD_PER_TOKEN.prompt + completionTokens * USD_PER_TOKEN.completion;
  return Number(usd.toFixed(9));
}

/** Starts everything under `runtime`; it stops when the test ends. */
export async function startWorld(t: Test, runtime: Runtime): Promise<World> {
  const provider = await startScriptedProvider();
  const assay = await startAssay({
    runtime,
    environment: { OPENAI_BASE_URL: provider.url, OPENAI_API_KEY: 'sk-operator' },
  });
  t.teardown(async () => {
    await assay.stop();
    await provider.stop();
  });
  const apiKey = assay.key ?? '';
  const expected = new Map<string, number>();

  const query = async <T>(path: string, body: unknown): Promise<T> => {
    const response = await fetch(assay.apiUrl + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { data, error } = (await response.json()) as { data: T; error: string | null };
    if (error !== null) throw new Error(`${path}: ${error}\n${assay.stderr().slice(-LOG_TAIL)}`);
    return data;
  };
  const find = (name: string) =>
    query<LoggedRequest[]>('/v1/request/query', {
      filter: { properties: { Case: { equals: name } } },
      sort: { created_at: 'asc' },
      limit: 100,
    });

  return {
    assay,
    provider,
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
        return find(name);
      },
    }),
    checkNoneTwice: async (t) => {
      for (const [name, count] of expected) {
        t.equal(
          (await find(name)).length,
          count,
          `"${name}" is recorded exactly ${count === 1 ? 'once' : `${count} times`}`,
        );
      }
    },
  };
}

/** Everything that a stream brings. */
export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** The record has the tokens that the client was told, and their price. */
export function checkTokens(
  t: Test,
  record: LoggedRequest | undefined,
  usage: { prompt: number | undefined; completion: number | undefined },
): void {
  const { prompt = Number.NaN, completion = Number.NaN } = usage;
  t.match(record, {
    response_status: 200,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    cost: costOf(prompt, completion),
  });
}
