-- Up Migration
-- Stored prompts. A version never changes: an update makes the next one, and an environment names one of them.
create table assay.prompts (
  prompt_id       uuid primary key default gen_random_uuid(),
  organization_id uuid not null references assay.organizations,
  name            text collate "C" not null,
  tags            text[] not null default '{}',
  last_major      integer not null default 1, -- numbers are given out from here, under this row's lock, and never twice
  created_at      timestamptz(3) not null default now(),
  deleted_at      timestamptz(3)
);
create unique index on assay.prompts (organization_id, name) where deleted_at is null;

create table assay.prompt_versions (
  version_id      uuid primary key default gen_random_uuid(),
  prompt_id       uuid not null references assay.prompts,
  organization_id uuid not null references assay.organizations,
  major           integer not null check (major > 0),
  minor           integer not null check (minor >= 0),
  commit_message  text not null default '',
  body            text not null, -- JSON as it was sent, so that the order of its members survives
  model           text,          -- the body's; null: it names none
  variables       text not null default '[]', -- JSON: [{"name": …, "type": …}], the variables of the body's templates
  created_at      timestamptz(3) not null default now(),
  created_by      uuid,          -- the API key
  deleted_at      timestamptz(3),
  unique (prompt_id, major, minor)
);
create index on assay.prompt_versions (organization_id, prompt_id, major desc, minor desc);

create table assay.prompt_environments (
  prompt_id       uuid not null references assay.prompts,
  environment     text collate "C" not null,
  organization_id uuid not null references assay.organizations,
  version_id      uuid not null references assay.prompt_versions,
  updated_at      timestamptz(3) not null default now(),
  primary key (prompt_id, environment)
);

-- For lists, the newest first.
create index on assay.prompts (organization_id, created_at desc, prompt_id desc) where deleted_at is null;

-- Deleted prompts and versions keep their rows, and with them their numbers; their contents go.
grant select, insert, update (name, tags, last_major, deleted_at) on assay.prompts to assay_api;
grant select, insert, update (commit_message, body, model, variables, deleted_at) on assay.prompt_versions to assay_api;
grant select, insert, update (version_id, updated_at), delete on assay.prompt_environments to assay_api;

do $$
declare
  name text;
begin
  foreach name in array array['prompts', 'prompt_versions', 'prompt_environments'] loop
    execute format('alter table assay.%I enable row level security', name);
    execute format('create policy own_organization on assay.%I to assay_api
      using (organization_id = nullif(current_setting(''assay.organization'', true), '''')::uuid)', name);
  end loop;
end $$;
