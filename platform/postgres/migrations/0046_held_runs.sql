-- Up Migration
-- The runs of an experiment that are under way, which each claim counts: without this it reads all that wait, too. No more than the
-- experiment's concurrency. Calls are answered while it is made; experiments wait until then.
create index experiment_runs_running on assay.experiment_runs (experiment_id) where state = 'running';
