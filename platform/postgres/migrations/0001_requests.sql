-- Up Migration
-- Everything of Assay's lives in schema "assay" (made by the runner), so it can share a database.

create table assay.organizations (
  organization_id uuid primary key default gen_random_uuid(),
  name            text not null unique check (length(name) between 1 and 100),
  tier            text not null default 'free' check (tier in ('free', 'pro', 'enterprise')),
  logs_per_5s     integer check (logs_per_5s > 0), -- null: the tier's own
  created_at      timestamptz not null default now()
);

create table assay.api_keys (
  key_id          uuid primary key default gen_random_uuid(),
  organization_id uuid not null references assay.organizations,
  name            text not null default '',
  prefix          text not null,        -- the first 12 characters, for display
  hash            bytea not null unique, -- SHA-256 of the whole key; the key itself is never stored
  scopes          text[] not null check (scopes <@ array['gateway', 'read', 'write'] and cardinality(scopes) > 0),
  created_at      timestamptz not null default now(),
  revoked_at      timestamptz
);

-- Every change of a key or an organization is told, by its id, to the processes that cache them.
create function assay.notify_keys() returns trigger language plpgsql as $$
declare
  changed jsonb := to_jsonb(coalesce(new, old));
begin
  perform pg_notify('assay_keys', coalesce(changed ->> 'key_id', changed ->> 'organization_id'));
  return null;
end $$;
create trigger keys_changed after insert or update or delete on assay.api_keys
  for each row execute function assay.notify_keys();
create trigger organizations_changed after update or delete on assay.organizations
  for each row execute function assay.notify_keys();

-- Ids that callers chose themselves, claimed before the provider is called: a second use is refused (409).
create table assay.claimed_request_ids (
  organization_id uuid not null,
  request_id      text collate "C" not null,
  claimed_at      timestamptz not null default now(),
  primary key (organization_id, request_id)
);

-- One row a request, narrow: lists and filters never touch the bodies. Text in collation "C", so that order and
-- equality are the same here as in JavaScript.
create table assay.requests (
  organization_id     uuid not null,
  created_at          timestamptz(3) not null,
  request_id          text collate "C" not null,
  api_key_id          uuid,
  source              text not null,            -- gateway | api | evaluator
  path                text collate "C" not null,
  provider            text collate "C" not null,
  request_model       text collate "C",
  response_model      text collate "C",
  model               text collate "C" not null,
  response_id         text collate "C",
  response_created_at timestamptz(3),
  status              integer not null,
  latency_ms          integer,
  ttft_ms             integer,
  prompt_tokens       integer,
  completion_tokens   integer,
  total_tokens        integer,
  cost_nano           bigint,                   -- nano-dollars; null when the model has no known price
  price_source        text,                     -- which price list, with its version
  user_id             text collate "C",
  session_id          text collate "C",
  session_path        text,
  session_name        text,
  prompt_id           text collate "C",
  prompt_version      text collate "C",
  experiment_id       text,
  cached_from         text,                     -- the request whose stored answer was given
  request_properties  jsonb,                    -- as sent: {"Plan": "pro"}; null when there were none
  properties_added    jsonb,                    -- set later, through the API
  properties_folded   jsonb not null default '{}', -- both, names in lower case: what filters read
  inputs              jsonb,                    -- prompt variables
  is_stream           boolean not null,
  truncated           boolean not null,         -- the answer ended early
  error_code          text,                     -- a code of ours when the gateway itself answered
  feedback_rating     boolean,
  feedback_created_at timestamptz(3),
  primary key (organization_id, created_at, request_id) include (source) -- so that pages and counts need no rows
) partition by range (created_at);

-- Each index serves one filter or one sort, under row-level security too; those of equality give the first page of a
-- common value in order. Partial ones cost nothing where the field is not used.
create index on assay.requests (organization_id, request_id);
create index on assay.requests (organization_id, user_id, created_at, request_id) where user_id is not null;
create index on assay.requests (organization_id, request_model, created_at, request_id);
create index on assay.requests (organization_id, response_model, created_at, request_id);
create index on assay.requests (organization_id, status, created_at, request_id);
create index on assay.requests (organization_id, cost_nano desc nulls last, request_id desc);
create index on assay.requests (organization_id, latency_ms desc nulls last, request_id desc);
create index on assay.requests (organization_id, total_tokens desc nulls last, request_id desc);
create index on assay.requests (organization_id, feedback_rating, created_at, request_id) where feedback_rating is not null;
create index on assay.requests (organization_id, feedback_created_at, request_id) where feedback_created_at is not null;
create index on assay.requests (organization_id, prompt_id, created_at, request_id) where prompt_id is not null;
create index on assay.requests (organization_id, created_at, request_id) where experiment_id is not null;
create index on assay.requests (organization_id, created_at, request_id) where cached_from is not null;

-- Bodies. *_text is JSON that Postgres can cast to jsonb (no NUL, no lone surrogate, bounded numbers and depth):
-- what filters search. *_raw holds the bytes as given where they differ from it.
create table assay.request_bodies (
  organization_id uuid not null,
  created_at      timestamptz(3) not null,
  request_id      text collate "C" not null,
  request_text    text collate "C" not null,
  response_text   text collate "C" not null,
  request_raw     bytea,
  response_raw    bytea,
  primary key (organization_id, created_at, request_id)
) partition by range (created_at);
-- lz4 takes a fraction of pglz's time; servers built without it (the embedded one) keep the default.
do $$
declare
  name text;
begin
  foreach name in array array['request_text', 'response_text', 'request_raw', 'response_raw'] loop
    execute format('alter table assay.request_bodies alter column %I set compression lz4', name);
  end loop;
exception when feature_not_supported then null;
end $$;

-- One row for each property of a request, by a 64-bit hash of folded name and value. Not a GIN index on the jsonb:
-- under row-level security Postgres uses an index only for leakproof operators, which jsonb's @> is not and
-- equality is; and this order gives the first page of a common value without sorting.
create table assay.request_properties (
  organization_id uuid not null,
  pair_hash       bigint not null,
  created_at      timestamptz(3) not null,
  request_id      text collate "C" not null,
  primary key (organization_id, pair_hash, created_at, request_id)
) partition by range (created_at);

create table assay.request_scores (
  organization_id uuid not null,
  created_at      timestamptz(3) not null,     -- of the request, so that score and request share a partition
  request_id      text collate "C" not null,
  key             text collate "C" not null,
  value           double precision not null,
  updated_at      timestamptz(3) not null,
  primary key (organization_id, created_at, request_id, key)
) partition by range (created_at);
create index on assay.request_scores (organization_id, key, value, created_at, request_id);

-- Makes the partitions of the week (Monday, UTC) that holds `moment`; harmless when they exist. Each is made apart and
-- then attached, because "create table … partition of" locks its parent against everybody: four parents in turn, against
-- queries that touch them in another order, is a deadlock each Monday.
create function assay.ensure_partitions(moment timestamptz) returns void language plpgsql as $$
declare
  first_day timestamp := date_trunc('week', moment at time zone 'UTC');
  suffix    text := to_char(first_day, '"_w"YYYYMMDD');
  parent    text;
begin
  if to_regclass('assay.request_scores' || suffix) is not null then return; end if;
  perform pg_advisory_xact_lock(hashtext('assay.ensure_partitions'));
  -- Whoever held the lock may have made them. Asked of the table: to_regclass would answer from what it remembers.
  if exists (select from pg_catalog.pg_class
              where relname = 'request_scores' || suffix and relnamespace = 'assay'::regnamespace) then
    return;
  end if;
  foreach parent in array array['requests', 'request_bodies', 'request_properties', 'request_scores'] loop
    execute format('create table assay.%I (like assay.%I including all)', parent || suffix, parent);
    execute format('alter table assay.%I attach partition assay.%I for values from (%L) to (%L)',
      parent, parent || suffix, first_day at time zone 'UTC', (first_day + interval '7 days') at time zone 'UTC');
  end loop;
end $$;

-- How far each outbox has been read: moved in the same transaction as the rows, so an entry is stored exactly once.
create table assay.outbox_cursors (
  outbox_id  text primary key,
  segment    bigint not null,
  position   bigint not null,
  updated_at timestamptz not null default now()
);

-- Entries that could not be stored: kept whole, with the reason, out of everybody's way.
create table assay.dead_letters (
  dead_letter_id  bigint generated always as identity primary key,
  created_at      timestamptz not null default now(),
  origin          text not null unique, -- outbox, segment and position: a second reading adds nothing
  organization_id uuid,
  request_id      text,
  reason          text not null,
  entry           bytea not null
);

-- The second wall. The API connects as this role, which sees only the organization of its transaction, whatever a
-- statement asks for.
do $$ begin
  create role assay_api nologin;
exception when duplicate_object or unique_violation then null;
end $$;
do $$ begin
  execute format('grant assay_api to %I', current_user);
exception when insufficient_privilege then -- the role is another owner's; being a member already is enough
  if not pg_has_role(current_user, 'assay_api', 'member') then raise; end if;
end $$;
grant usage on schema assay to assay_api;
grant select on assay.requests, assay.request_bodies, assay.request_properties, assay.request_scores to assay_api;
grant update (properties_added, properties_folded, feedback_rating, feedback_created_at) on assay.requests to assay_api;
grant insert, delete on assay.request_properties to assay_api;
grant insert, update on assay.request_scores to assay_api;

do $$
declare
  name text;
begin
  foreach name in array array['requests', 'request_bodies', 'request_properties', 'request_scores'] loop
    execute format('alter table assay.%I enable row level security', name);
    execute format('create policy own_organization on assay.%I to assay_api
      using (organization_id = nullif(current_setting(''assay.organization'', true), '''')::uuid)', name);
  end loop;
end $$;
