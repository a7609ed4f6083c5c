-- Up Migration
-- Running processes: each reports itself every ten seconds (platform/processes). Belongs to no organization, and holds no
-- secrets. Tiny and rewritten often, so it has no index beside its key, and room for updates in place.
create table assay.processes (
  process_id uuid primary key,
  role       text not null,           -- gateway | api | ingest | evaluators
  host       text not null,           -- for operators: the API does not show it, nor the pid
  pid        integer not null,
  version    text not null,
  started_at timestamptz(3) not null,
  at         timestamptz(3) not null, -- of the last report, by the clock of Postgres
  state      jsonb not null,          -- core/contracts/process-state.ts
  facts      jsonb                    -- platform/processes/facts.ts; written once; null: of a role without
) with (fillfactor = 50);
grant select (process_id, role, version, started_at, at, state, facts) on assay.processes to assay_api;

-- The facts of processes were in a table of their own, with a second heartbeat. The view is for processes of the version
-- before, as long as an upgrade takes. Their API reads it with every evaluator that it shows, which would be errors without
-- it; it finds the facts of upgraded processes. Their announcements are refused (host is null), about which each process logs
-- one warning and works on. The next release drops the view.
drop table assay.announcements;
create view assay.announcements as
  select process_id, role, facts, at as seen_at from assay.processes where facts is not null;
grant select on assay.announcements to assay_api;

-- Number of entries of an outbox that are stored, beside the position up to which they are.
alter table assay.outbox_cursors add column entries bigint not null default 0;

-- Alerts, as their owners define them. Only owners change them, so each change is audited.
create table assay.alerts (
  alert_id        uuid primary key default gen_random_uuid(),
  organization_id uuid not null references assay.organizations,
  name            text not null,
  query           jsonb not null,            -- core/contracts/alert.ts
  window_minutes  integer not null,
  comparison      text not null check (comparison in ('>', '>=', '<', '<=')),
  threshold       double precision not null,
  warning         double precision,
  for_minutes     integer not null,
  no_data         text not null check (no_data in ('ok', 'alert', 'keep')),
  webhook_ids     uuid[],                    -- null: all that ask for alert events
  enabled         boolean not null,
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null
);
create index on assay.alerts (organization_id, created_at desc, alert_id desc);

-- State of each alert, written by its evaluations. A process leases an alert while it evaluates it; its results are
-- written only if it still has the lease.
create table assay.alert_runs (
  alert_id        uuid primary key references assay.alerts on delete cascade,
  organization_id uuid not null,
  due_at          timestamptz(3) not null,    -- of the next evaluation
  lease           uuid,
  leased_until    timestamptz(3),
  claimed_at      timestamptz(3),             -- organizations take turns by it
  evaluated_at    timestamptz(3),             -- the end of the last evaluated window
  value           double precision,
  groups          jsonb not null default '[]', -- those that are tracked: core/alerts
  skipped_groups  integer not null default 0,
  failures        integer not null default 0, -- in a row
  error           text
) with (fillfactor = 70);
create index on assay.alert_runs (due_at);
create index on assay.alert_runs (organization_id, claimed_at);

-- Fired and resolved events, bounded for each alert.
create table assay.alert_history (
  history_id      bigint generated always as identity primary key,
  organization_id uuid not null,
  alert_id        uuid not null references assay.alerts on delete cascade,
  at              timestamptz(3) not null,
  event           text not null check (event in ('fired', 'resolved')),
  severity        text not null check (severity in ('critical', 'warning')),
  grouping        jsonb not null,
  value           double precision,
  threshold       double precision,
  reason          text check (reason in ('changed', 'disabled', 'deleted'))
);
create index on assay.alert_history (alert_id, history_id desc);

grant select, insert, update, delete on assay.alerts to assay_api;
grant select, insert, update on assay.alert_runs to assay_api;
grant select, insert, delete on assay.alert_history to assay_api;

do $$
declare
  name text;
begin
  foreach name in array array['alerts', 'alert_runs', 'alert_history'] loop
    execute format('alter table assay.%I enable row level security', name);
    execute format('create policy own_organization on assay.%I to assay_api
      using (organization_id = nullif(current_setting(''assay.organization'', true), '''')::uuid)', name);
  end loop;
end $$;
