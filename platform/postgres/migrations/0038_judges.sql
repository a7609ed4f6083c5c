-- Up Migration
-- The judgments of a jury's members, in the order of the members: core/scoring/outcome.ts, MemberJudgment. Null: it has none.
alter table assay.evaluations add column members jsonb;
