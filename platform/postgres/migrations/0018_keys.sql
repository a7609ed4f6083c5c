-- Up Migration
-- What a key is confined to, and how long it lives; null: not at all, for ever. Lists are globs (core/keys), providers are
-- their names.
alter table assay.api_keys
  add column expires_at   timestamptz(3),
  add column models       text[],
  add column providers    text[],
  add column paths        text[],
  add column owner        text,
  add column tags         text[] not null default '{}',
  add column rotated_from uuid references assay.api_keys, -- the key in whose place this one was made
  add column counted_as   uuid; -- the first of a row of rotated keys, whose rate-limit counters all of them use; null: itself

-- A key is replaced once: of two that rotate it at the same moment, one is refused.
create unique index api_keys_rotated_from on assay.api_keys (rotated_from) where rotated_from is not null;
create index api_keys_listed on assay.api_keys (organization_id, created_at desc, key_id);

-- When a key was used last, to the minute. Apart from the keys, whose every change is announced to all processes.
create table assay.api_key_uses (
  key_id          uuid primary key references assay.api_keys,
  organization_id uuid not null,
  last_used_at    timestamptz(3) not null
) with (fillfactor = 70);

-- The API manages keys as a role that sees one organization at a time, and no hash.
grant select (key_id, organization_id, name, prefix, scopes, rate_limit_policy, expires_at, models, providers, paths, owner, tags,
              rotated_from, counted_as, created_at, revoked_at),
      insert,
      update (name, scopes, rate_limit_policy, expires_at, models, providers, paths, owner, tags, revoked_at)
   on assay.api_keys to assay_api;
grant select on assay.organizations, assay.api_key_uses to assay_api;

do $$
declare
  name text;
begin
  foreach name in array array['api_keys', 'api_key_uses', 'organizations'] loop
    execute format('alter table assay.%I enable row level security', name);
    execute format('create policy own_organization on assay.%I to assay_api
      using (organization_id = nullif(current_setting(''assay.organization'', true), '''')::uuid)', name);
  end loop;
end $$;
