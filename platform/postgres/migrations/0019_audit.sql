-- Up Migration
-- Every change of configuration: written by triggers in the change's own transaction (functions/audit.sql), never changed.
create table assay.audit_log (
  id              bigint generated always as identity primary key,
  organization_id uuid not null,
  at              timestamptz(3) not null,
  actor_kind      text collate "C" not null check (actor_kind in ('api_key', 'command_line', 'system')),
  actor_id        text collate "C", -- of kind api_key: the key's id
  action          text collate "C" not null,
  target_kind     text collate "C" not null,
  target_id       text collate "C" not null,
  changes         jsonb not null   -- {"column": {"from": …, "to": …}}; {"changed": true} in place of a secret's values
);
create index on assay.audit_log (organization_id, id desc);
create index on assay.audit_log (organization_id, target_kind, target_id, id desc);

-- The table of one's own organization can be read, and nothing else: rows are written by a function of the owner's.
grant select on assay.audit_log to assay_api;
alter table assay.audit_log enable row level security;
create policy own_organization on assay.audit_log to assay_api
  using (organization_id = nullif(current_setting('assay.organization', true), '')::uuid);
