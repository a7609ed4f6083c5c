-- Up Migration
-- The judgments of a jury's members, in the order of the members: core/scoring/outcome.ts, MemberJudgment. Null: it has none.
alter table assay.evaluations add column members jsonb;
-- The evaluation of the rubric whose judge gave this score; null: it has a judge of its own.
alter table assay.evaluations add column rubric_id bigint;
-- A pair: the answer of `request_id` is judged beside that of `baseline_id`, which comes first or second. '': judged alone.
alter table assay.evaluations
  add column baseline_id text collate "C" not null default '',
  add column baseline_created_at timestamptz(3),
  add column is_baseline_first boolean not null default false;
drop index assay.evaluations_once;
create unique index evaluations_once on assay.evaluations
  (organization_id, request_id, created_at, evaluator_id, version, probe, baseline_id, is_baseline_first);
create index evaluations_of_pairs on assay.evaluations (organization_id, baseline_id) where baseline_id <> '';
-- A run over the pairs of two experiments; null: it is a walk over requests.
alter table assay.evaluation_runs
  add column baseline_experiment_id uuid,
  add column candidate_experiment_id uuid;
