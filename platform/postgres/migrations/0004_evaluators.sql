-- Up Migration
create table assay.evaluators (
  evaluator_id      uuid primary key default gen_random_uuid(),
  organization_id   uuid not null references assay.organizations,
  name              text collate "C" not null,
  score_key         text collate "C" not null, -- the name as a key of scores
  scoring_type      text not null,
  version           integer not null default 1, -- the current one
  paused_reason     text,                       -- auth | billing | model; null: it runs
  paused_message    text,
  resumes           integer not null default 0, -- tells what failed before somebody resumed it from what fails after
  daily_budget_nano bigint check (daily_budget_nano >= 0), -- what its judges may cost a day (UTC); null: no limit
  created_at        timestamptz(3) not null,
  updated_at        timestamptz(3) not null,
  deleted_at        timestamptz(3)
);
-- What was deleted keeps its evaluations and gives up its name.
create unique index evaluators_name on assay.evaluators (organization_id, name) where deleted_at is null;
create unique index evaluators_score_key on assay.evaluators (organization_id, score_key) where deleted_at is null;

-- What an evaluator was at a time: never changed, so that a score can be explained for as long as it is there.
create table assay.evaluator_versions (
  evaluator_id    uuid not null references assay.evaluators,
  version         integer not null,
  organization_id uuid not null,
  llm_template    jsonb,
  code_template   jsonb,
  external_config jsonb, -- without its secrets
  secrets         bytea, -- a sealed JSON object; see core/secrets
  created_at      timestamptz(3) not null,
  primary key (evaluator_id, version)
);

-- Which logged requests an evaluator scores as they come.
create table assay.online_evaluators (
  online_id        uuid primary key default gen_random_uuid(),
  organization_id  uuid not null,
  evaluator_id     uuid not null references assay.evaluators,
  sample_rate      double precision not null check (sample_rate between 0 and 100), -- percent
  property_filters jsonb not null default '[]', -- [{"key": …, "value": …}], all of which must hold
  filter           jsonb,                       -- as a query's filter; null: every request
  probe_rate       double precision not null default 0 check (probe_rate between 0 and 100), -- percent of what is sampled
  created_at       timestamptz(3) not null
);
create index on assay.online_evaluators (organization_id);

-- Scoring of history: a filter walked from the newest request back, a page at a time.
create table assay.evaluation_runs (
  run_id            uuid primary key default gen_random_uuid(),
  organization_id   uuid not null,
  evaluator_id      uuid not null references assay.evaluators,
  version           integer not null,
  state             text not null default 'running' check (state in ('running', 'paused', 'cancelled', 'scheduled')),
  filter            jsonb not null,
  max_requests      integer,     -- null: all that match
  batch             boolean not null default false, -- Python: many records in one sandbox child
  until             timestamptz(3) not null, -- requests after this moment are not the run's
  scheduled         integer not null default 0,
  cursor_created_at timestamptz(3),
  cursor_request_id text collate "C",
  created_at        timestamptz(3) not null,
  updated_at        timestamptz(3) not null
);
create index on assay.evaluation_runs (organization_id, evaluator_id);
create index on assay.evaluation_runs (updated_at) where state = 'running';

-- One row for each thing to be scored, from the moment that it is decided until long after its score: that an evaluation
-- ends in exactly one outcome is this table's unique constraint and its state, not somebody's care.
create table assay.evaluations (
  evaluation_id     bigint generated always as identity primary key,
  organization_id   uuid not null,
  evaluator_id      uuid not null,
  version           integer not null,
  created_at        timestamptz(3) not null,       -- of the request
  request_id        text collate "C" not null,
  probe             text not null default '',      -- '' or repeat | order | padding | injection: those write no score
  run_id            uuid,                          -- null: as requests come
  lane              text not null check (lane in ('python', 'remote')), -- whom it keeps busy: this machine, or others
  priority          smallint not null,             -- 0: as requests come, 1: probes, 2: history
  state             text not null default 'pending'
    check (state in ('pending', 'running', 'paused', 'completed', 'skipped', 'error', 'dead', 'cancelled')),
  due_at            timestamptz(3) not null,       -- pending: not before this; running: lost if still running then
  attempts          smallint not null default 0,   -- that counted
  claims            integer not null default 0,    -- which of them holds it
  score             double precision,
  label             text,
  reasoning         text,
  traces            text,
  flags             text[] not null default '{}',
  error_code        text,                          -- of the last failure, or why it was skipped
  error_message     text,
  judge_model       text,
  judge_calls       integer not null default 0,
  judge_request_ids text[] not null default '{}',  -- the judge's own records
  prompt_tokens     bigint,
  completion_tokens bigint,
  cost_nano         bigint,
  judge_latency_ms  bigint,
  scheduled_at      timestamptz(3) not null,
  finished_at       timestamptz(3)
) with (fillfactor = 80);
create unique index evaluations_once
  on assay.evaluations (organization_id, request_id, created_at, evaluator_id, version, probe);
-- What is to be done, for each lane an organization at a time. Only open work is in it, however long the history.
create index evaluations_due on assay.evaluations (lane, organization_id, priority, due_at)
  where state in ('pending', 'running');
create index on assay.evaluations (evaluator_id, version, finished_at);
create index on assay.evaluations (organization_id, scheduled_at desc, evaluation_id desc);
create index on assay.evaluations (organization_id, evaluator_id, scheduled_at desc, evaluation_id desc);
create index on assay.evaluations (run_id, state) where run_id is not null;
create index on assay.evaluations (evaluator_id) where state = 'paused';
create index on assay.evaluations (created_at); -- for retention

-- Which evaluator a score is from; null: a caller's own. Of several versions the latest counts.
alter table assay.request_scores add column evaluator_id uuid, add column evaluator_version integer;

-- What judges cost a day, so that a budget is one look-up.
create table assay.evaluation_spend (
  organization_id uuid not null,
  evaluator_id    uuid not null,
  day             date not null, -- UTC
  cost_nano       bigint not null,
  primary key (organization_id, day, evaluator_id)
);
alter table assay.organizations add column evaluation_budget_nano bigint check (evaluation_budget_nano >= 0);

-- Something that the API asks an evaluators process to do at once: to compile code, to try an evaluator out. Rows live for
-- seconds; unlogged, because whoever waits for one tries again.
create unlogged table assay.evaluator_trials (
  trial_id        uuid primary key default gen_random_uuid(),
  organization_id uuid not null,
  body            jsonb not null,
  created_at      timestamptz(3) not null default now(),
  taken_at        timestamptz(3),
  result          jsonb
);

-- Signs what the services say to each other through the gateway. 244 random bits.
create table assay.internal_secrets (
  name   text primary key,
  secret text not null
);
insert into assay.internal_secrets values ('internal-calls', gen_random_uuid()::text || gen_random_uuid()::text);

grant select, insert, update on assay.evaluators to assay_api;
grant select, insert on assay.evaluator_versions to assay_api;
grant select, insert, delete on assay.online_evaluators to assay_api;
grant select, insert, update on assay.evaluation_runs to assay_api;
grant select, update (state, due_at, attempts, error_code, error_message, finished_at) on assay.evaluations to assay_api;
grant select on assay.evaluation_spend to assay_api;
grant select, insert, delete on assay.evaluator_trials to assay_api;

do $$
declare
  name text;
begin
  foreach name in array array['evaluators', 'evaluator_versions', 'online_evaluators', 'evaluation_runs', 'evaluations',
                              'evaluation_spend', 'evaluator_trials'] loop
    execute format('alter table assay.%I enable row level security', name);
    execute format('create policy own_organization on assay.%I to assay_api
      using (organization_id = nullif(current_setting(''assay.organization'', true), '''')::uuid)', name);
  end loop;
end $$;
