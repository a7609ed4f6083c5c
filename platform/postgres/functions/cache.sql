-- Revision 3
-- Cached answers: their bounds, and the sums that the bounds are compared with, kept by triggers so that they are
-- right whoever deletes.

-- Adds inserted answers to their organizations' sums, in the order of the organizations: two statements that count
-- several must not wait for each other in a circle.
create or replace function assay.count_added_answers() returns trigger language plpgsql as $$
begin
  insert into assay.cached_bytes as counted
    select organization_id, sum(bytes) from added group by organization_id order by organization_id
    on conflict (organization_id) do update set bytes = counted.bytes + excluded.bytes;
  return null;
end $$;

-- Subtracts deleted answers from their organizations' sums, in the same order.
create or replace function assay.count_removed_answers() returns trigger language plpgsql as $$
begin
  insert into assay.cached_bytes as counted
    select organization_id, -sum(bytes) from removed group by organization_id order by organization_id
    on conflict (organization_id) do update set bytes = counted.bytes + excluded.bytes;
  return null;
end $$;

-- Deletes an organization's oldest answers until at most `max_bytes` remain. Locked rows are passed over: the
-- transaction that holds them may be waiting for this organization's sum, which this transaction holds.
create or replace function assay.bound_cached_bytes(organization uuid, max_bytes bigint) returns void language plpgsql as $$
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

-- Adds an answer to those of its key. The newest `buckets` answers of the key stay, and of the organization as many as
-- fit `max_bytes`; one that is more than a minute newer than this was stored while a clock was wrong, and goes first. The answer to an erased request is not added: it may have waited in a gateway while it was erased.
create or replace function assay.keep_answer(
  organization uuid, key bytea, request text, stored timestamptz, expires timestamptz,
  answer_status smallint, answer_type text, answer_body bytea, answer_digest bytea,
  buckets integer, max_bytes bigint
) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(assay.erasure_lock(organization));
  if exists (select from assay.erased_requests where organization_id = organization and request_id = request) then
    return;
  end if;
  insert into assay.cached_answers
      (organization_id, answer_key, request_id, stored_at, expires_at, status, content_type, body, digest)
    values (organization, key, request, stored, expires, answer_status, answer_type, answer_body, answer_digest)
    on conflict do nothing;
  delete from assay.cached_answers where ctid = any(array(
    select ctid from assay.cached_answers
     where organization_id = organization and answer_key = key
     order by stored_at > stored + interval '1 minute', stored_at desc, request_id desc offset buckets for update skip locked));
  perform assay.bound_cached_bytes(organization, max_bytes);
end $$;

-- Deletes at most `at_most` expired answers, and as many expired claims, for one gateway at a time. Returns how many
-- answers were deleted.
create or replace function assay.sweep_cached_answers(at_most integer) returns integer language plpgsql as $$
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
