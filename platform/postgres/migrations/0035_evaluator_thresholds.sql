-- Up Migration
-- The score from which an answer passes, as its owner sees it; null: the middle of the scores that the evaluator can give.
alter table assay.evaluator_versions add column threshold double precision;
