-- Up Migration
-- The processes that run, each reported by itself every ten seconds (platform/processes). Of no organization, and without
-- secrets. Tiny and rewritten often, so it has no index beside its key, and room for updates in place.
create table assay.processes (
  process_id uuid primary key,
  role       text not null,           -- gateway | api | ingest | evaluators
  host       text not null,           -- for operators: the API does not show it, nor the pid
  pid        integer not null,
  version    text not null,
  started_at timestamptz(3) not null,
  at         timestamptz(3) not null, -- of the last report, by the clock of Postgres
  state      jsonb not null           -- core/contracts/process-state.ts
) with (fillfactor = 50);
grant select (process_id, role, version, started_at, at, state) on assay.processes to assay_api;

-- How many entries of an outbox are stored, beside the position up to which they are.
alter table assay.outbox_cursors add column entries bigint not null default 0;
