/** Evaluations put straight into the store, as ingest and workers would have left them. */
import type { TestApi } from '../../../support/api.ts';

/** Columns of assay.evaluations; what is left out is that of a pending evaluation of a request of now. */
export type SeedEvaluation = {
  evaluator_id: string;
  version?: number;
  request_id?: string;
  created_at?: Date;
  probe?: string;
  run_id?: string | null;
  rubric_id?: string;
  lane?: string;
  state?: string;
  due_at?: Date;
  attempts?: number;
  score?: number | null;
  label?: string | null;
  reasoning?: string | null;
  warnings?: string[];
  error_code?: string | null;
  error_message?: string | null;
  judge_calls?: number;
  judge_model?: string | null;
  judge_request_ids?: string[];
  prompt_tokens?: number | null;
  completion_tokens?: number | null;
  cost_nano?: number | null;
  judge_latency_ms?: number | null;
  /** The judgments of a jury. */
  members?: object[];
  scheduled_at?: Date;
  finished_at?: Date | null;
};

let made = 0;

/** Inserts evaluations of the own organization (or another), and returns their ids. */
export async function insertEvaluations(
  api: Pick<TestApi, 'database' | 'own'>,
  given: SeedEvaluation[],
  organizationId = api.own.organizationId,
): Promise<string[]> {
  const { sql } = api.database;
  const ids: string[] = [];
  for (const one of given) {
    made += 1;
    const at = new Date();
    const row = {
      organization_id: organizationId,
      version: 1,
      request_id: `request ${made}`,
      created_at: at,
      lane: 'remote',
      priority: 0,
      due_at: at,
      scheduled_at: new Date(at.getTime() + made),
      ...one,
      members: one.members === undefined ? null : sql.json(one.members as never),
    };
    const [inserted] = await sql<{ evaluation_id: string }[]>`
      insert into assay.evaluations ${sql(row)} returning evaluation_id`;
    ids.push(inserted!.evaluation_id);
  }
  return ids;
}
