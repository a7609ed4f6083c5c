-- Revision 1
-- Weekly partitions of records.

-- Makes the partitions of the week (Monday, UTC) that holds `moment`; harmless if they exist. Refuses moments that lie
-- far away: a partition is made for good, and a clock gone wrong would make one in every year it names. Jobs that make
-- partitions in advance need four weeks. Each partition is made by itself and then attached, because "create table …
-- partition of" locks its parent against everybody: four parents in turn, against queries that touch them in another
-- order, would be a deadlock each Monday.
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
