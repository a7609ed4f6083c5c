-- Up Migration
-- A dead letter is told from others by its bytes: the same entry may come again from elsewhere, another message of the
-- broker or another outbox, and adds no second letter. Where it was read stays, as information.
alter table assay.dead_letters
  drop constraint dead_letters_origin_key,
  add column entry_digest bytea generated always as (sha256(entry)) stored;
delete from assay.dead_letters later using assay.dead_letters earlier
 where later.entry_digest = earlier.entry_digest and later.dead_letter_id > earlier.dead_letter_id;
alter table assay.dead_letters add unique (entry_digest);

-- Ids that callers chose are forgotten with the records that bear them, in small batches, oldest first.
create index on assay.claimed_request_ids (claimed_at);

-- As before, but no longer for any moment: a partition is made for good, and a clock gone wrong would make one in every
-- year it names. Four weeks ahead is what those who make partitions in advance need.
create or replace function assay.ensure_partitions(moment timestamptz) returns void language plpgsql as $$
declare
  first_day timestamp := date_trunc('week', moment at time zone 'UTC');
  suffix    text := to_char(first_day, '"_w"YYYYMMDD');
  parent    text;
begin
  if to_regclass('assay.request_scores' || suffix) is not null then return; end if;
  if moment < '2020-01-01T00:00:00Z' or moment > now() + interval '28 days' then
    raise exception 'created_at must lie between 2020-01-01 and four weeks from now, but is %',
      to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') using errcode = 'datetime_field_overflow';
  end if;
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
