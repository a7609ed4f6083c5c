-- Up Migration
-- Ids of erased requests, so that nothing brings them back: no later arrival of the same log entry, no second use of the id.
-- A tombstone holds no content. Forgotten with the records of its week, like claimed ids.
create table assay.erased_requests (
  organization_id uuid not null,
  request_id      text collate "C" not null,
  erased_at       timestamptz(3) not null default now(),
  erased_by       uuid, -- the API key
  primary key (organization_id, request_id)
);
create index on assay.erased_requests (erased_at);

-- Evaluations of erased requests that a judge may still be working on: its calls hold the erased content, and their log
-- entries may come after the erasure.
create table assay.erased_evaluations (
  evaluation_id   bigint primary key,
  organization_id uuid not null,
  erased_at       timestamptz(3) not null default now()
);
create index on assay.erased_evaluations (erased_at);

-- Erasures of all requests that pass a filter, walked from the newest request back.
create table assay.erasure_jobs (
  job_id            uuid primary key default gen_random_uuid(),
  organization_id   uuid not null references assay.organizations,
  state             text not null default 'running' check (state in ('running', 'completed', 'cancelled', 'failed')),
  filter            jsonb,                   -- null once the job has ended: it may name what was to be forgotten
  until             timestamptz(3) not null, -- requests after this moment are not the job's
  erased            bigint not null default 0,
  error             text,                    -- why it failed
  failures          smallint not null default 0, -- in a row
  erased_by         uuid,                    -- the API key
  cursor_created_at timestamptz(3),
  cursor_request_id text collate "C",
  created_at        timestamptz(3) not null,
  updated_at        timestamptz(3) not null,
  finished_at       timestamptz(3),
  check ((state = 'running') = (finished_at is null))
);
create index on assay.erasure_jobs (organization_id, created_at desc, job_id desc);
create index on assay.erasure_jobs (updated_at) where state = 'running';
create index on assay.erasure_jobs (finished_at);

-- What an erasure looks up by the id of a request.
create index on assay.cached_answers (organization_id, request_id);
create index on assay.dead_letters (organization_id, request_id);

grant select on assay.erased_requests to assay_api;
grant select, insert, update on assay.erasure_jobs to assay_api;
-- For taking back a score, and a property that was sent with its request.
grant delete on assay.request_scores to assay_api;
grant update (request_properties) on assay.requests to assay_api;

do $$
declare
  name text;
begin
  foreach name in array array['erased_requests', 'erased_evaluations', 'erasure_jobs'] loop
    execute format('alter table assay.%I enable row level security', name);
    execute format('create policy own_organization on assay.%I to assay_api
      using (organization_id = nullif(current_setting(''assay.organization'', true), '''')::uuid)', name);
  end loop;
end $$;
