-- Up Migration
-- Keys of providers that organizations store for their own calls: sealed, see core/provider-keys. Which providers there
-- are is not said here, so that a new one needs no migration.
create table assay.provider_keys (
  organization_id uuid not null references assay.organizations,
  provider        text collate "C" not null,
  sealed          bytea not null,
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null,
  primary key (organization_id, provider)
);
-- A row has no key_id, so its organization's id is told: what is known of all of its keys is asked for again.
create trigger provider_keys_changed after insert or update or delete on assay.provider_keys
  for each row execute function assay.notify_keys();

grant select, insert, update (sealed, updated_at), delete on assay.provider_keys to assay_api;
alter table assay.provider_keys enable row level security;
create policy own_organization on assay.provider_keys to assay_api
  using (organization_id = nullif(current_setting('assay.organization', true), '')::uuid);
