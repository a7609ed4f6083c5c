-- Up Migration
-- When a judgment was imported that was made elsewhere; null: made here.
alter table assay.evaluations add column imported_at timestamptz(3);

-- Tells an import whose request is logged and not stored yet from one of an unknown request.
alter table assay.claimed_request_ids enable row level security;
create policy own_organization on assay.claimed_request_ids to assay_api
  using (organization_id = nullif(current_setting('assay.organization', true), '')::uuid);
grant select on assay.claimed_request_ids to assay_api;

-- The answer that a logged request should have had: JSON as it was sent; null: its caller named none.
alter table assay.requests add column expected text;

-- Evaluations of an experiment's answers look up the item, whether or not its run is settled yet.
create index on assay.experiment_runs (organization_id, call_id) where call_id is not null;
