-- Up Migration
-- Datasets: requests to put to models, with the answers that are expected. Each change of items makes one version, with the
-- next number. A version never changes, save that the content of an erased request goes from all of them.
create table assay.datasets (
  dataset_id      uuid primary key,
  organization_id uuid not null references assay.organizations,
  name            text collate "C" not null,
  description     text not null default '',
  request_schema  text,                       -- JSON Schema as it was sent; null: any chat completion
  expected_schema text,
  last_version    integer not null default 0, -- numbers are given out from here, under this row's lock
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null,
  archived_at     timestamptz(3)
);
create unique index on assay.datasets (organization_id, name) where archived_at is null;
create index on assay.datasets (organization_id, created_at desc, dataset_id desc);

create table assay.dataset_versions (
  dataset_id      uuid not null references assay.datasets,
  version         integer not null check (version > 0),
  organization_id uuid not null,
  created_at      timestamptz(3) not null,
  created_by      uuid,                    -- the API key; null: the command line
  message         text not null default '',
  items           integer not null,        -- of this version
  content_sha256  bytea not null,          -- of its items' hashes, in their own order: the same for the same content
  primary key (dataset_id, version)
);

-- An item as it was from one version on, until another. A changed item keeps its id and has a row more.
create table assay.dataset_items (
  dataset_id        uuid not null references assay.datasets,
  item_id           text collate "C" not null,   -- a ULID
  from_version      integer not null,
  to_version        integer,                     -- the first version without it; null: it is in the newest
  organization_id   uuid not null,
  external_id       text collate "C",            -- the caller's name for it
  -- JSON without white space between its tokens, otherwise as it was sent.
  request           text,                        -- the body of a chat completion; null: erased
  expected          text,                        -- null: none, or erased
  metadata          text not null default '{}',
  split             text collate "C",
  cluster           text collate "C",            -- items that are not independent, such as turns of one conversation
  source_request_id text collate "C",            -- the logged request that it was made from
  content_sha256    bytea not null,              -- core/datasets/item.ts says of what; erased: of nothing
  erased_at         timestamptz(3),
  primary key (dataset_id, item_id, from_version)
);
create unique index on assay.dataset_items (dataset_id, external_id) where to_version is null and external_id is not null;
create unique index on assay.dataset_items (dataset_id, item_id) where to_version is null;
-- The hash of a version reads all hashes of its items, in order.
create index on assay.dataset_items (dataset_id, content_sha256) where to_version is null;
create index on assay.dataset_items (organization_id, source_request_id) where source_request_id is not null;

grant select, insert, update (name, description, request_schema, expected_schema, last_version, updated_at, archived_at)
  on assay.datasets to assay_api;
grant select, insert on assay.dataset_versions to assay_api;
grant select, insert, update (to_version) on assay.dataset_items to assay_api;

do $$
declare
  name text;
begin
  foreach name in array array['datasets', 'dataset_versions', 'dataset_items'] loop
    execute format('alter table assay.%I enable row level security', name);
    execute format('create policy own_organization on assay.%I to assay_api
      using (organization_id = nullif(current_setting(''assay.organization'', true), '''')::uuid)', name);
  end loop;
end $$;
