-- Up Migration
-- Experiments: the items of a version of a dataset, put to a target some number of times, and graded.
create table assay.experiments (
  experiment_id    uuid primary key,
  organization_id  uuid not null references assay.organizations,
  name             text not null,
  dataset_id       uuid not null references assay.datasets,
  dataset_version  integer not null,
  split            text,                            -- null: all items
  target           jsonb not null,                  -- core/contracts/experiment.ts
  evaluators       jsonb not null,                  -- [{"id": …, "version": …}]
  repetitions      smallint not null check (repetitions between 1 and 20),
  seed             bigint not null,                 -- of the order of the runs
  concurrency      smallint not null check (concurrency > 0),
  cache            text not null check (cache in ('on', 'off')),
  max_cost_nano    bigint check (max_cost_nano > 0), -- of answers and judges together; null: no limit
  spent_nano       bigint not null default 0,       -- of the answers' records
  judge_spent_nano bigint not null default 0,       -- as the judges reported
  state            text not null check (state in ('running', 'paused', 'cancelled', 'budget', 'completed')),
  paused_reason    text,                            -- why a process paused it; null: a person did
  git              jsonb,
  created_by       uuid,                            -- the API key
  created_at       timestamptz(3) not null,
  updated_at       timestamptz(3) not null,
  finished_at      timestamptz(3)
);
create index on assay.experiments (organization_id, created_at desc, experiment_id desc);
create index on assay.experiments (organization_id) where state = 'running';

-- One answer that an experiment needs: an item and a repetition of it. It ends in exactly one outcome.
create table assay.experiment_runs (
  experiment_id      uuid not null references assay.experiments,
  item_id            text collate "C" not null,
  repetition         smallint not null,
  organization_id    uuid not null,
  position           integer not null,                 -- in the order of the seed
  state              text not null default 'pending' check (state in ('pending', 'running', 'completed', 'error', 'skipped')),
  due_at             timestamptz(3) not null,          -- pending: not before this; running: lost if still running then
  attempts           smallint not null default 0,      -- that counted
  claims             integer not null default 0,       -- which of them holds it
  call_id            text collate "C",                 -- the request that the last claim made, or was about to make
  request_id         text collate "C",                 -- of the answer
  error_code         text,
  error_message      text,
  finished_at        timestamptz(3),
  primary key (experiment_id, item_id, repetition)
) with (fillfactor = 80);
create index experiment_runs_due on assay.experiment_runs (experiment_id, position) where state in ('pending', 'running');
create index on assay.experiment_runs (organization_id, request_id) where request_id is not null;

-- What the calls of an experiment cost: an estimate from before the call until its record is stored, and then the cost in it.
create table assay.experiment_calls (
  organization_id uuid not null,
  request_id      text collate "C" not null,
  experiment_id   uuid not null,
  cost_nano       bigint not null,
  is_recorded     boolean not null,
  begun_at        timestamptz(3) not null,
  primary key (organization_id, request_id)
);
create index on assay.experiment_calls (experiment_id) where not is_recorded;

grant select, insert, update (name, state, paused_reason, updated_at, finished_at) on assay.experiments to assay_api;
grant select, insert, update (state, request_id, error_code, error_message, finished_at)
  on assay.experiment_runs to assay_api;
grant select on assay.experiment_calls to assay_api;
grant insert on assay.evaluations to assay_api;

do $$
declare
  name text;
begin
  foreach name in array array['experiments', 'experiment_runs', 'experiment_calls'] loop
    execute format('alter table assay.%I enable row level security', name);
    execute format('create policy own_organization on assay.%I to assay_api
      using (organization_id = nullif(current_setting(''assay.organization'', true), '''')::uuid)', name);
  end loop;
end $$;
