-- Up Migration
-- Which item a call of an experiment was sent, so that an erasure finds every call, also those that failed and were made again;
-- null: the call was made before this column was there.
alter table assay.experiment_calls add column item_id text collate "C";
create index on assay.experiment_calls (experiment_id, item_id) where item_id is not null;
-- Since when the estimate counts as spent; null: nothing is reserved for the call.
alter table assay.experiment_calls alter column begun_at drop not null;
