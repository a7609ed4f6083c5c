-- Up Migration
-- Indexes for the filters by the model of a record, the API key and the gateway's own error code: without them a rare value
-- costs a walk over all requests. Calls are answered while they are made; their records wait in the log stream until then, and so do
-- feedback and properties that are set over the API.
-- Few requests have an error code of ours, so that index costs next to nothing.
create index on assay.requests (organization_id, model, created_at, request_id);
create index on assay.requests (organization_id, api_key_id, created_at, request_id);
create index on assay.requests (organization_id, error_code, created_at, request_id) where error_code is not null;
