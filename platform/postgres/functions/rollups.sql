-- Revision 1
-- Computations that roll-ups share with queries over rows.

-- Returns the bin of a value in histograms; -1 for 0 and less. core/rollups/histogram.ts computes the same: bin n holds the
-- values above (1.02 / 0.98) ^ (n - 1), up to (1.02 / 0.98) ^ n.
create or replace function assay.histogram_bin(value bigint) returns smallint language sql immutable parallel safe as $$
  select case when value > 0 then ceil(ln(value::float8) / ln(1.02::float8 / 0.98::float8))::smallint else -1::smallint end
$$;

-- Returns the speed at which an answer was generated, in thousandths of a token per second: from the first token on where its
-- time is known. Null for answers from the cache and for those without tokens or without a duration.
create or replace function assay.milli_tokens_per_second(
  completion_tokens integer, latency_ms integer, ttft_ms integer, cached_from text
) returns bigint language sql immutable parallel safe as $$
  select case when cached_from is null and completion_tokens > 0 and latency_ms > coalesce(ttft_ms, 0)
              then completion_tokens * 1000000::bigint / (latency_ms - coalesce(ttft_ms, 0)) end
$$;

-- Returns the Mondays of the weeks whose requests and scores are all there. A week that retention is about to drop is not
-- among them as soon as one of its partitions is being detached: from then on its roll-ups must not be recomputed.
create or replace function assay.rollup_weeks() returns setof timestamptz language sql stable as $$
  select to_date(right(partition.relname, 8), 'YYYYMMDD')::timestamp at time zone 'UTC' as monday
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class partition on partition.oid = i.inhrelid
   where i.inhparent in ('assay.requests'::regclass, 'assay.request_scores'::regclass) and not i.inhdetachpending
   group by monday having count(*) = 2
$$;

-- Returns the state of the roll-ups, for the transaction's organization; no row before the sink has started. `changes`: those
-- of committed transactions that the sink has not applied, by kind and ten seconds of the requests' times; null instead when
-- there are more than `most_changes`. Runs as the owner, because the API's role reads no feed.
create or replace function assay.rollup_state(most_changes integer)
  returns table (applied_at timestamptz, rows_begin_at timestamptz, changes jsonb)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
declare
  own    uuid := nullif(current_setting('assay.organization', true), '')::uuid;
  sink   assay.sinks;
  behind integer;
begin
  select * into sink from assay.sinks s where s.name = 'rollups' and s.state = 'running';
  if not found then return; end if;
  select count(*) into behind
    from (select from assay.changes c where (c.xid, c.seq) > (sink.cursor_xid, sink.cursor_seq) limit most_changes + 1) unapplied;
  applied_at := sink.cursor_at;
  select min(monday) into rows_begin_at from assay.rollup_weeks() as monday;
  if behind <= most_changes then
    select coalesce(jsonb_agg(jsonb_build_array(kind, extract(epoch from begins_at)::bigint)), '[]') into changes
      from (select distinct c.kind, date_bin('10 seconds', created_at, 'epoch') as begins_at
              from assay.changes c cross join unnest(c.created_ats) as created_at
             where (c.xid, c.seq) > (sink.cursor_xid, sink.cursor_seq) and c.organization_id = own) distinct_changes;
  end if;
  return next;
end $$;
revoke all on function assay.rollup_state(integer) from public;
grant execute on function assay.rollup_state(integer) to assay_api;
