-- Up Migration
-- The change feed: what changed in the records, written in the transactions that change them. Sinks read it in the order of
-- (xid, seq), below the oldest running transaction: see docs/decisions/0037-change-feed.md.
create table assay.changes (
  xid             xid8 not null default pg_current_xact_id(), -- the transaction that made the change
  seq             bigint generated always as identity,        -- orders the changes of a transaction
  organization_id uuid not null,
  at              timestamptz(3) not null default now(),
  kind            text not null check (kind in ('record', 'score', 'feedback', 'property', 'evaluation', 'deleted', 'event')),
  created_ats     timestamptz(3)[] not null default '{}',     -- with request_ids, the keys of the requests
  request_ids     text[] not null default '{}',
  details         jsonb,                                      -- an array parallel to the keys: see core/contracts/changes.ts
  primary key (xid, seq),
  check (cardinality(created_ats) = cardinality(request_ids))
) with (
  -- A queue: rows are deleted as soon as every sink has passed them.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000
);
-- Rows live for seconds: compressing the keys of a batch takes as long as all the rest of the statement.
alter table assay.changes alter created_ats set storage external, alter request_ids set storage external;

-- The sinks that read the feed, with their cursors. A cursor moves in the transaction that applies the changes it passes.
create table assay.sinks (
  name       text primary key,
  state      text not null default 'new' check (state in ('new', 'running', 'behind')), -- behind: the feed has dropped changes that it had not applied
  cursor_xid xid8,           -- the last change applied; null unless it is running
  cursor_seq bigint,
  cursor_at  timestamptz(3), -- when the latest change that it has applied was made
  cluster    bigint not null, -- the identifier of the cluster whose transactions cursor_xid counts; 0: unknown
  failures   integer not null default 0, -- in a row
  last_error text,
  resumed_at timestamptz(3), -- when it last resumed by a scan instead of from the feed
  updated_at timestamptz(3) not null default now(),
  check ((state = 'running') = (cursor_xid is not null and cursor_seq is not null))
) with (fillfactor = 50);

-- The API notes the changes of its own organization, and reads none.
grant insert (organization_id, kind, created_ats, request_ids, details) on assay.changes to assay_api;
alter table assay.changes enable row level security;
create policy own_organization on assay.changes for insert to assay_api
  with check (organization_id = nullif(current_setting('assay.organization', true), '')::uuid);
