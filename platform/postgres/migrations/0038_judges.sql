-- Up Migration
-- The judgments of a jury's members, in the order of the members: core/scoring/outcome.ts, MemberJudgment. Null: it has none.
alter table assay.evaluations add column members jsonb;
-- The evaluation of the rubric whose judge gave this score; null: it has a judge of its own.
alter table assay.evaluations add column rubric_id bigint;
