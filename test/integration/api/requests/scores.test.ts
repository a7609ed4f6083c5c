/** Scores that people set over those of evaluators. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startTestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const api = await startTestApi(t);
const { sql } = api.database;

const EVALUATOR = randomUUID();

/** A request that an evaluator has scored, by these keys, a day ago. */
async function scored(organizationId: string, scores: Record<string, number>): Promise<string> {
  const yesterday = new Date(Date.now() - 86_400_000);
  const [row] = await insertRequests(sql, organizationId, [{ scores, created_at: yesterday }]);
  await sql`
    update assay.request_scores set evaluator_id = ${EVALUATOR}, evaluator_version = 3
     where request_id = ${row!.request_id}`;
  return row!.request_id;
}

const scoresOf = (requestId: string) => sql<
  {
    key: string;
    value: number;
    evaluator_id: string | null;
    evaluator_version: number | null;
    updated_at: Date;
  }[]
>`
  select key, value, evaluator_id, evaluator_version, updated_at from assay.request_scores
   where request_id = ${requestId} order by key`;

const setScores = (requestId: string, scores: object) =>
  api.call(`/v1/request/${requestId}/score`, { body: { scores } });

t.test(
  "a person's score replaces an evaluator's, and is no longer attributed to the evaluator",
  async (t) => {
    const id = await scored(api.own.organizationId, { polite: 0.2, short: 1 });
    const before = Date.now();
    t.equal((await setScores(id, { polite: 0.9 })).status, 200);
    const [polite, short] = await scoresOf(id);
    t.match(polite, { key: 'polite', value: 0.9, evaluator_id: null, evaluator_version: null });
    t.ok(polite!.updated_at.getTime() >= before, 'it is of now');
    t.match(
      short,
      { key: 'short', value: 1, evaluator_id: EVALUATOR, evaluator_version: 3 },
      'the other is as it was',
    );
    t.ok(short!.updated_at.getTime() < before);
  },
);

t.test("a person's score equal to the evaluator's is attributed to the person", async (t) => {
  const id = await scored(api.own.organizationId, { polite: 1 });
  t.equal((await setScores(id, { polite: true })).status, 200);
  t.match(await scoresOf(id), [{ value: 1, evaluator_id: null, evaluator_version: null }]);
});

t.test('a score set by a person alone is attributed to no evaluator', async (t) => {
  const [row] = await insertRequests(sql, api.own.organizationId, [{}]);
  t.equal((await setScores(row!.request_id, { polite: 0.5 })).status, 200);
  t.match(await scoresOf(row!.request_id), [{ value: 0.5, evaluator_id: null, evaluator_version: null }]);
});

t.test("another organization's request keeps the score of its evaluator", async (t) => {
  const id = await scored(api.other.organizationId, { polite: 0.2 });
  t.equal((await setScores(id, { polite: 0.9 })).status, 404);
  t.match(await scoresOf(id), [{ value: 0.2, evaluator_id: EVALUATOR, evaluator_version: 3 }]);
});
