-- Up Migration
-- Providers' answers that callers asked to have cached. Unlogged: each can be had again, and so none waits for a disk;
-- after a crash of Postgres, or on a standby that took over, the cache is empty. The API's role has no business here.
create unlogged table assay.cached_answers (
  organization_id uuid not null,
  answer_key      bytea not null,            -- SHA-256 of what was asked; the gateway's cache says how
  request_id      text collate "C" not null, -- the request whose answer it was
  stored_at       timestamptz(3) not null,   -- by the gateway's clock, like the next
  expires_at      timestamptz(3) not null,
  status          smallint not null,
  content_type    text,
  body            bytea not null,
  digest          bytea not null,            -- SHA-256 of everything above: a damaged or moved row counts as none
  bytes           integer not null generated always as (octet_length(body) + 500) stored,
  primary key (organization_id, answer_key, request_id)
);
create index on assay.cached_answers (expires_at);
create index on assay.cached_answers (organization_id, stored_at);
do $$ begin
  alter table assay.cached_answers alter column body set compression lz4;
exception when feature_not_supported then null;
end $$;

-- What each organization has there, so that its bound is one look-up. Kept by triggers: right whoever deletes.
create unlogged table assay.cached_bytes (
  organization_id uuid primary key,
  bytes           bigint not null
);

-- Rows in the order of their organizations: two statements that count several must not wait for each other in a ring.
create function assay.count_added_answers() returns trigger language plpgsql as $$
begin
  insert into assay.cached_bytes as counted
    select organization_id, sum(bytes) from added group by organization_id order by organization_id
    on conflict (organization_id) do update set bytes = counted.bytes + excluded.bytes;
  return null;
end $$;
create function assay.count_removed_answers() returns trigger language plpgsql as $$
begin
  insert into assay.cached_bytes as counted
    select organization_id, -sum(bytes) from removed group by organization_id order by organization_id
    on conflict (organization_id) do update set bytes = counted.bytes + excluded.bytes;
  return null;
end $$;
create trigger count_added after insert on assay.cached_answers
  referencing new table as added for each statement execute function assay.count_added_answers();
create trigger count_removed after delete on assay.cached_answers
  referencing old table as removed for each statement execute function assay.count_removed_answers();

-- Removes an organization's oldest answers until it has at most `max_bytes`. Passes over locked rows: whoever holds one
-- may be waiting for this organization's count, which this transaction holds.
create function assay.bound_cached_bytes(organization uuid, max_bytes bigint) returns void language plpgsql as $$
declare
  excess bigint;
begin
  loop
    select bytes - max_bytes into excess from assay.cached_bytes where organization_id = organization;
    exit when excess is null or excess <= 0;
    delete from assay.cached_answers where ctid = any(array(
      select row_id
        from (select row_id, sum(bytes) over (order by stored_at, row_id) - bytes as freed_before
                from (select ctid as row_id, stored_at, bytes from assay.cached_answers
                       where organization_id = organization
                       order by stored_at limit 100 for update skip locked) oldest) oldest
       where freed_before < excess));
    exit when not found;
  end loop;
end $$;

-- Adds an answer to those of its key. The newest `buckets` of them stay, and of the organization what fits its bound.
create function assay.keep_answer(
  organization uuid, key bytea, request text, stored timestamptz, expires timestamptz,
  answer_status smallint, answer_type text, answer_body bytea, answer_digest bytea,
  buckets integer, max_bytes bigint
) returns void language plpgsql as $$
begin
  insert into assay.cached_answers
      (organization_id, answer_key, request_id, stored_at, expires_at, status, content_type, body, digest)
    values (organization, key, request, stored, expires, answer_status, answer_type, answer_body, answer_digest)
    on conflict do nothing;
  delete from assay.cached_answers where ctid = any(array(
    select ctid from assay.cached_answers
     where organization_id = organization and answer_key = key
     order by stored_at desc, request_id desc offset buckets for update skip locked));
  perform assay.bound_cached_bytes(organization, max_bytes);
end $$;

-- Who is asking a provider on behalf of all gateways; for seconds, and longer only while its gateway lives to say so.
create unlogged table assay.answer_claims (
  organization_id uuid not null,
  answer_key      bytea not null,
  holder          uuid not null, -- a gateway process
  expires_at      timestamptz not null,
  primary key (organization_id, answer_key)
);
create index on assay.answer_claims (expires_at);

-- Removes up to `at_most` answers that have expired, and the claims that nobody gave back; one gateway at a time, any of
-- them. Returns how many answers went.
create function assay.sweep_cached_answers(at_most integer) returns integer language plpgsql as $$
declare
  swept integer;
begin
  if not pg_try_advisory_xact_lock(hashtext('assay.sweep_cached_answers')) then return 0; end if;
  delete from assay.answer_claims where ctid = any(array(
    select ctid from assay.answer_claims where expires_at < now() limit at_most for update skip locked));
  delete from assay.cached_answers where ctid = any(array(
    select ctid from assay.cached_answers where expires_at < now()
     order by expires_at limit at_most for update skip locked));
  get diagnostics swept = row_count;
  return swept;
end $$;
