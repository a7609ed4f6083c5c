-- Up Migration
-- Large bodies come in as they are, and are compressed later: pglz, the only compression of some servers, takes longer for a
-- body of 50 KB than all other work on its record. Where the server has lz4, this table stays empty. A record has its bodies
-- here or in assay.request_bodies, never in both; ingest moves them (docs/decisions/0047-fresh-bodies.md).
create table assay.fresh_bodies (
  organization_id uuid not null,
  created_at      timestamptz(3) not null,
  request_id      text collate "C" not null,
  request_text    text collate "C" not null,
  response_text   text collate "C" not null,
  request_raw     bytea,
  response_raw    bytea,
  primary key (organization_id, created_at, request_id)
) with (
  -- Vacuumed once a minute while rows move: their room is used again, and an empty table gives its room back.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 10000
);
alter table assay.fresh_bodies
  alter column request_text set storage external,
  alter column response_text set storage external,
  alter column request_raw set storage external,
  alter column response_raw set storage external;

grant select on assay.fresh_bodies to assay_api;
alter table assay.fresh_bodies enable row level security;
create policy own_organization on assay.fresh_bodies to assay_api
  using (organization_id = nullif(current_setting('assay.organization', true), '')::uuid);

-- The bodies of every record, whichever table they are in. Readers use nothing else. It has the rights of whoever reads, so
-- that the policies of both tables hold.
create view assay.bodies with (security_invoker = true) as
  select organization_id, created_at, request_id, request_text, response_text, request_raw, response_raw
    from assay.request_bodies
  union all
  select organization_id, created_at, request_id, request_text, response_text, request_raw, response_raw
    from assay.fresh_bodies;
grant select on assay.bodies to assay_api;
