-- Revision 1
-- What roll-ups and queries over rows compute alike.

-- Returns the bin of a value in histograms; -1 for 0 and less. core/rollups/histogram.ts computes the same: bin n holds the
-- values above (1.02 / 0.98) ^ (n - 1), up to (1.02 / 0.98) ^ n.
create or replace function assay.histogram_bin(value bigint) returns smallint language sql immutable parallel safe as $$
  select case when value > 0 then ceil(ln(value::float8) / ln(1.02::float8 / 0.98::float8))::smallint else -1::smallint end
$$;

-- Returns how fast an answer was generated, in thousandths of a token per second: from the first token on where its time is
-- known. Null for answers from the cache and for those without tokens or without a duration.
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
