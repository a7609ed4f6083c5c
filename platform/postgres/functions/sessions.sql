-- Revision 1
-- Totals of sessions: added by ingest for new records, counted again from the rows after a deletion. Both change sessions in
-- the order of their ids, then their names, then the spans, so that two transactions cannot wait for each other.

-- Counts late changes of the short sessions that began in the spans of these moments. An earlier change is not counted: what
-- is remembered of a span is remembered 24 hours after its beginning at the earliest (api/sessions/span-digests.ts),
-- six hours after the last change that is not counted.
create or replace function assay.mark_session_spans(organizations uuid[], moments timestamptz[]) returns void
language sql as $$
  insert into assay.session_spans as s (organization_id, began_at, late_changes)
  select distinct m.organization_id, date_bin('6 hours', m.moment, '2000-01-01T00:00:00Z'), 1
    from unnest(organizations, moments) as m (organization_id, moment)
   where m.moment < now() - interval '12 hours'
   order by 1, 2
  on conflict (organization_id, began_at) do update set late_changes = s.late_changes + 1;
$$;

-- Counts the totals of these sessions of one organization again from assay.requests; a session without requests goes, with
-- its names. Run it after a deletion of requests, in the same transaction. It loses nothing of concurrent ingest: each
-- session is locked before its rows are read, and ingest changes it after its own rows are written. "session_id is not
-- null" stands beside lists of ids because the partial index is used only then.
create or replace function assay.recount_sessions(organization uuid, session_ids text[]) returns void
language plpgsql as $$
declare
  begun timestamptz[];
begin
  -- A session that has rows but no totals gets a row to lock: another transaction may be adding it.
  insert into assay.sessions (organization_id, session_id, first_at, last_at, requests, timed_requests, latency_ms,
    prompt_tokens, completion_tokens, total_tokens)
  select organization, id, now(), now(), 0, 0, 0, 0, 0, 0
    from (select distinct given collate "C" as id from unnest(session_ids) as given) wanted
   where exists (select from assay.requests r
                  where r.organization_id = organization and r.session_id = id and r.source <> 'evaluator')
   order by id
  on conflict (organization_id, session_id) do nothing;

  perform from assay.sessions s
    where s.organization_id = organization and s.session_id = any(session_ids)
    order by s.session_id for update;
  select array_agg(s.first_at) into begun from assay.sessions s
    where s.organization_id = organization and s.session_id = any(session_ids);

  update assay.sessions s
     set first_at = t.first_at, last_at = t.last_at, requests = t.requests, timed_requests = t.timed_requests,
         latency_ms = t.latency_ms, prompt_tokens = t.prompt_tokens, completion_tokens = t.completion_tokens,
         total_tokens = t.total_tokens, cost_nano = t.cost_nano, name = t.name, named_at = t.named_at,
         was_long = s.is_long
    from (
      select r.session_id, min(r.created_at) as first_at, max(r.created_at) as last_at, count(*) as requests,
             count(r.latency_ms) as timed_requests, coalesce(sum(r.latency_ms), 0) as latency_ms,
             coalesce(sum(r.prompt_tokens), 0) as prompt_tokens,
             coalesce(sum(r.completion_tokens), 0) as completion_tokens,
             coalesce(sum(r.total_tokens), 0) as total_tokens, sum(r.cost_nano) as cost_nano,
             (array_agg(r.session_name order by r.created_at desc, r.session_name collate "C" desc)
                filter (where r.session_name is not null))[1] as name,
             max(r.created_at) filter (where r.session_name is not null) as named_at
        from assay.requests r
       where r.organization_id = organization and r.session_id = any(session_ids)
         and r.session_id is not null and r.source <> 'evaluator'
       group by r.session_id) t
   where s.organization_id = organization and s.session_id = t.session_id;

  delete from assay.sessions s
   where s.organization_id = organization and s.session_id = any(session_ids)
     and not exists (select from assay.requests r
                      where r.organization_id = organization and r.session_id = s.session_id
                        and r.source <> 'evaluator');
  delete from assay.session_names n
   where n.organization_id = organization and n.session_id = any(session_ids)
     and not exists (select from assay.requests r
                      where r.organization_id = organization and r.session_id = n.session_id
                        and r.session_name = n.name and r.source <> 'evaluator');
  insert into assay.session_names (organization_id, session_id, name)
  select distinct organization, r.session_id, r.session_name
    from assay.requests r
   where r.organization_id = organization and r.session_id = any(session_ids) and r.session_id is not null
     and r.session_name is not null and r.source <> 'evaluator'
  on conflict do nothing;

  select begun || array_agg(s.first_at) into begun from assay.sessions s
   where s.organization_id = organization and s.session_id = any(session_ids);
  if begun is not null then
    perform assay.mark_session_spans(array_fill(organization, array[cardinality(begun)]), begun);
  end if;
end $$;
