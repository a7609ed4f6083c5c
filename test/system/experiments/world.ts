/** Everything that `npm start` runs, before a scripted provider, with a dataset: for experiments as users make them. */
import { readFileSync } from 'node:fs';
import type { Test } from 'tap';
import type { ExperimentJson, ExperimentRunsJson } from '#core/contracts/experiment.ts';
import { connectPostgres, type Sql } from '#platform/postgres/mod.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { type Assay, startAssay, waitFor } from '../../support/assay.ts';
import type { ScriptedProvider } from '../../support/scripted-provider.ts';
import { scriptedProvider } from '../../support/world.ts';

export type World = {
  provider: ScriptedProvider;
  assay: Assay;
  sql: Sql;
  organizationId: string;
  api<Data = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Data>;
  /** Makes a dataset of these requests, and returns its id. */
  dataset(requests: readonly object[]): Promise<string>;
  /** Waits until an experiment is in a state and all of its answers are graded. */
  ended(id: string, state?: ExperimentJson['state'], withinMs?: number): Promise<ExperimentJson>;
  runs(id: string): Promise<ExperimentRunsJson['runs']>;
};

export async function startWorld(t: Test): Promise<World> {
  const provider = await scriptedProvider(t);
  const assay = await startAssay({
    environment: { OPENAI_API_KEY: 'sk-operator', OPENAI_BASE_URL: provider.url },
  });
  t.teardown(() => assay.stop());
  const { url } = JSON.parse(readFileSync(`${assay.dataDir}/run/store.json`, 'utf8')) as { url: string };
  const sql = connectPostgres({ url, max: 2, applicationName: 'test', statementTimeoutMs: 10_000 });
  t.teardown(() => sql.end());
  const [organization] = await sql<{ id: string }[]>`
    select organization_id as id from assay.organizations order by created_at limit 1`;
  const organizationId = organization!.id;
  const api = async <Data>(method: string, path: string, body?: unknown): Promise<Data> => {
    const response = await fetch(assay.apiUrl + path, {
      method,
      headers: { authorization: `Bearer ${assay.key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { data, error } = (await response.json()) as { data: Data; error: string | null };
    if (error !== null) throw new Error(`${method} ${path}: ${response.status} ${error}`);
    return data;
  };
  return {
    provider,
    assay,
    sql,
    organizationId,
    api,
    async dataset(requests) {
      const id = crypto.randomUUID();
      await sql`
        insert into assay.datasets (dataset_id, organization_id, name, last_version, created_at, updated_at)
        values (${id}, ${organizationId}, ${id}, 1, now(), now())`;
      await sql`
        insert into assay.dataset_items (dataset_id, item_id, from_version, organization_id, request, content_sha256)
        select ${id}, item_id, 1, ${organizationId}, request, ''
          from unnest(${requests.map(() => newRequestId())}::text[], ${requests.map((one) => JSON.stringify(one))}::text[])
            as items (item_id, request)`;
      return id;
    },
    async ended(id, state = 'completed', withinMs = 60_000) {
      let last: ExperimentJson | null = null;
      await waitFor(
        `the experiment to be ${state}`,
        async () => {
          // The API may be one of those that are killed.
          last = await api<ExperimentJson>('GET', `/v1/experiment/${id}`).catch(() => null);
          return last?.state === state && last.ungraded === 0 && last.running === 0;
        },
        withinMs,
      ).catch((error: Error) => {
        throw new Error(`${error.message}; it is ${JSON.stringify(last)}`);
      });
      return last!;
    },
    runs: async (id) => {
      const all: ExperimentRunsJson['runs'] = [];
      for (let after: number | null = 0; after !== null; ) {
        const page: ExperimentRunsJson = await api('POST', `/v1/experiment/${id}/runs`, {
          limit: 200,
          after,
        });
        all.push(...page.runs);
        after = page.next;
      }
      return all;
    },
  };
}

/** Returns requests, each with a question of its own. */
export function questions(count: number, more: object = {}): object[] {
  return Array.from({ length: count }, (_, index) => ({
    model: 'gpt-4o',
    max_tokens: 20,
    messages: [{ role: 'user', content: `Question ${index}` }],
    ...more,
  }));
}
