/** The scores that evaluators of sessions gave to sessions. */
import type { Statement } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { runStatement } from '../requests/mod.ts';
import { draftFor, finish } from './conditions.ts';

type StoredScore = { session_id: string; score_key: string; score: number };

/** Returns the scores of each of these sessions by score key: of each evaluator the newest, which saw the most of it. */
export async function readSessionScores(
  tx: TransactionSql,
  organizationId: string,
  sessionIds: readonly string[],
): Promise<Map<string, Record<string, number>>> {
  const scores = new Map<string, Record<string, number>>(sessionIds.map((id) => [id, {}]));
  if (sessionIds.length === 0) return scores;
  const rows = await runStatement<StoredScore>(tx, scoresStatement(organizationId, sessionIds));
  for (const { session_id, score_key, score } of rows) scores.get(session_id)![score_key] = score;
  return scores;
}

function scoresStatement(organizationId: string, sessionIds: readonly string[]): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const text = `
    select newest.session_id, v.score_key, newest.score
      from (select distinct on (e.session_id, e.evaluator_id) e.session_id, e.evaluator_id, e.score
              from assay.evaluations e
             where e.organization_id = ${organization} and e.session_id = any(${parameters.bind(sessionIds, 'text[]')})
               and e.session_id is not null and e.state = 'completed' and e.score is not null
             order by e.session_id, e.evaluator_id, e.created_at desc, e.request_id desc, e.version desc) newest
      join assay.evaluators v on v.organization_id = ${organization} and v.evaluator_id = newest.evaluator_id
                             and v.deleted_at is null
     order by v.score_key`;
  return finish(draft, text);
}
