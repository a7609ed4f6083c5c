-- Revision 1
-- The change feed: reading it, dropping what is no longer needed, and adopting it after a restore.

-- Returns the identifier of this cluster; 0 where the role may not read it.
create or replace function assay.cluster_identifier() returns bigint language plpgsql stable as $$
begin
  return (select system_identifier from pg_control_system());
exception when insufficient_privilege then
  return 0;
end $$;

-- Returns the changes after a position, in order: at most `most_changes`, and no further one once they have `most_keys` keys.
-- Each transaction below the snapshot's xmin has ended, so no change can come to lie before one that is returned. The index is
-- used regardless of Postgres's estimates: the table is empty one minute, and holds a backlog the next.
create or replace function assay.read_changes(after_xid xid8, after_seq bigint, most_changes integer, most_keys integer)
  returns table (xid xid8, seq bigint, organization_id uuid, at timestamptz, kind text, created_ats timestamptz[],
                 request_ids text[], details jsonb)
  language sql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
  select xid, seq, organization_id, at, kind, created_ats, request_ids, details
    from (select first.*, sum(cardinality(first.request_ids)) over (order by first.xid, first.seq) as keys
            from (select c.* from assay.changes c
                   where (c.xid, c.seq) > (after_xid, after_seq) and c.xid < pg_snapshot_xmin(pg_current_snapshot())
                   order by c.xid, c.seq limit most_changes) first) counted
   where keys - cardinality(request_ids) < most_keys
   order by xid, seq
$$;

-- Adopts a feed that a dump brought from another cluster, where transactions had other numbers. Its changes that are
-- numbered beyond this cluster's transactions get this transaction's number, and every sink reads the feed from its
-- beginning: none misses a change, and some changes are applied twice. Returns whether there was anything to do.
create or replace function assay.adopt_changes() returns boolean language plpgsql as $$
declare
  own bigint := assay.cluster_identifier();
begin
  if not exists (select from assay.sinks s
                  where (own <> 0 and s.cluster <> 0 and s.cluster <> own)
                     or s.cursor_xid > pg_snapshot_xmax(pg_current_snapshot())) then
    return false;
  end if;
  perform from assay.sinks order by name for update;
  -- Another process may have adopted it while this one waited.
  if not exists (select from assay.sinks s
                  where (own <> 0 and s.cluster <> 0 and s.cluster <> own)
                     or s.cursor_xid > pg_snapshot_xmax(pg_current_snapshot())) then
    return false;
  end if;
  update assay.changes set xid = pg_current_xact_id() where xid > pg_current_xact_id();
  update assay.sinks
     set cluster = own, cursor_xid = case when state = 'running' then '0'::xid8 end,
         cursor_seq = case when state = 'running' then 0 end;
  return true;
end $$;

-- Drops changes, at most `most`: those that every sink has passed; when there are none, those older than `kept_for`, and then
-- the sinks that had not applied them are behind. Returns the number, the names of these sinks, and whether it adopted a
-- restored feed instead. Does nothing while another process does it.
create or replace function assay.drop_changes(kept_for interval, most integer, out dropped integer, out left_behind text[],
                                              out is_adopted boolean)
  language plpgsql set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  last_xid xid8;
  last_seq bigint;
begin
  dropped := 0;
  left_behind := '{}';
  is_adopted := false;
  if not pg_try_advisory_xact_lock(hashtext('assay.changes')) then return; end if;
  -- Before a restored feed is adopted, its cursors say nothing about what was applied.
  is_adopted := assay.adopt_changes();
  if is_adopted then return; end if;

  select s.cursor_xid, s.cursor_seq into last_xid, last_seq
    from assay.sinks s where s.state = 'running' order by s.cursor_xid, s.cursor_seq limit 1;
  if found then
    delete from assay.changes where ctid = any(array(
      select c.ctid from assay.changes c where (c.xid, c.seq) <= (last_xid, last_seq) order by c.xid, c.seq limit most));
    get diagnostics dropped = row_count;
    if dropped > 0 then return; end if;
  end if;

  select old.xid, old.seq into last_xid, last_seq
    from (select c.xid, c.seq, bool_and(c.at < now() - kept_for) over (order by c.xid, c.seq) as is_old
            from (select * from assay.changes order by xid, seq limit most) c) old
   where old.is_old order by old.xid desc, old.seq desc limit 1;
  if not found then return; end if;
  with behind as (
    update assay.sinks s set state = 'behind', cursor_xid = null, cursor_seq = null
     where s.state = 'running' and (s.cursor_xid, s.cursor_seq) < (last_xid, last_seq)
    returning s.name
  )
  select coalesce(array_agg(name order by name), '{}') into left_behind from behind;
  delete from assay.changes c where (c.xid, c.seq) <= (last_xid, last_seq);
  get diagnostics dropped = row_count;
end $$;

-- Returns the lag of each sink: the age of the oldest change that it has not applied, and their number up to `most`.
create or replace function assay.sink_lags(most integer)
  returns table (name text, state text, failures integer, last_error text, updated_at timestamptz, resumed_at timestamptz,
                 lag_ms bigint, changes integer)
  language sql stable security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_bitmapscan = off as $$
  select s.name, s.state, s.failures, s.last_error, s.updated_at, s.resumed_at,
         coalesce((select greatest(0, extract(epoch from clock_timestamp() - c.at) * 1000)::bigint
                     from assay.changes c
                    where (c.xid, c.seq) > (coalesce(s.cursor_xid, '0'), coalesce(s.cursor_seq, 0))
                    order by c.xid, c.seq limit 1), 0),
         (select count(*)::integer
            from (select from assay.changes c
                   where (c.xid, c.seq) > (coalesce(s.cursor_xid, '0'), coalesce(s.cursor_seq, 0)) limit most) later)
    from assay.sinks s order by s.name
$$;
revoke all on function assay.sink_lags(integer) from public;
grant execute on function assay.sink_lags(integer) to assay_api;
