import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { isReady, startAssay, waitFor } from '../../support/assay.ts';
import { scriptedProvider } from '../../support/world.ts';

const KILLS = 3;
const BETWEEN_KILLS_MS = 1_000;
const RECOVERED_WITHIN_MS = 60_000;

t.test(
  'kill -9 of Postgres under load fails no call, loses no record, and queries are answered again',
  async (t) => {
    const provider = await scriptedProvider(t);
    const assay = await startAssay({
      environment: { OPENAI_BASE_URL: provider.url, OPENAI_API_KEY: 'sk-x' },
    });
    t.teardown(() => assay.stop());
    const headers = { authorization: `Bearer ${assay.key}`, 'content-type': 'application/json' };
    const post = (url: string, body: object) =>
      fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    const count = async () => {
      const answer = await post(`${assay.apiUrl}/v1/request/count/query`, { filter: 'all' });
      return { status: answer.status, ...((await answer.json()) as { data: number | null }) };
    };

    let isLoading = true;
    const statuses = new Map<number, number>();
    const queryStatuses = new Set<number>();
    const call = async () => {
      while (isLoading) {
        const answer = await post(`${assay.gatewayUrl}/v1/chat/completions`, {
          model: 'gpt-4o-mini',
          messages: [],
        });
        await answer.arrayBuffer();
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        await sleep(5);
      }
    };
    const query = async () => {
      while (isLoading) {
        queryStatuses.add((await count()).status);
        await sleep(5);
      }
    };
    const load = Promise.all([call(), call(), query(), query()]);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(BETWEEN_KILLS_MS);
      await waitFor('Postgres to be back', () => isReady(assay.apiUrl));
      assay.killPostgres();
    }
    await sleep(BETWEEN_KILLS_MS);
    isLoading = false;
    await load;

    t.same([...statuses.keys()], [200], 'every call was answered by the provider');
    t.same([...queryStatuses].sort(), [200, 503], 'queries said that the store was away');
    const answered = statuses.get(200) ?? 0;
    const deadline = performance.now() + RECOVERED_WITHIN_MS;
    let stored = await count();
    while (stored.data !== answered && performance.now() < deadline) {
      await sleep(50);
      stored = await count();
    }
    t.same(stored.data, answered);
  },
);
