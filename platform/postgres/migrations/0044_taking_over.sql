-- Up Migration
-- Experiments and runs over pairs, which the API makes, take over evaluations that others had no money left for.
grant update (run_id, priority, scheduled_at) on assay.evaluations to assay_api;
