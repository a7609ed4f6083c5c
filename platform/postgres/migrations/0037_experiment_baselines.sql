-- Up Migration
-- The experiment that another is compared with where none is named.
alter table assay.experiments add column baseline_experiment_id uuid references assay.experiments;
-- What its gate asks for where nothing else is asked, as texts; null: nothing.
alter table assay.experiments add column rules jsonb;
-- Whether it ends once its evaluator's difference from the baseline is decided: {"evaluatorId", "margin", "range"}.
alter table assay.experiments add column early_stop jsonb;
alter table assay.experiments add column stopped text check (stopped in ('better', 'worse', 'futile'));
-- Runs that had ended, and independent pairs that were graded, at the last look.
alter table assay.experiments add column looked_runs integer not null default 0;
alter table assay.experiments add column looked_pairs integer not null default 0;

-- Answers that jobs of callers post are claimed, and their costs counted, by the API.
grant update (call_id, claims, attempts, due_at) on assay.experiment_runs to assay_api;
grant update (spent_nano) on assay.experiments to assay_api;
grant insert on assay.experiment_calls to assay_api;
