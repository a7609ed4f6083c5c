-- Up Migration
-- What an evaluator is attached to can be changed in place: ingest sees the row before or after, never neither.
grant update (sample_rate, property_filters, filter, probe_rate) on assay.online_evaluators to assay_api;
