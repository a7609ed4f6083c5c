-- Revision 3
-- Totals of sessions: added by ingest for new records, subtracted by erasures, counted again from the rows after retention has
-- dropped weeks. All change sessions in the order of their ids, then their names, then the spans, so that two transactions
-- cannot wait for each other.

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
-- null" stands beside lists of ids because the partial index is used only then. All rows are looked up by their sessions, whatever
-- Postgres estimates: with many weeks, it found it cheaper to read all requests of the organization for two hundred names.
create or replace function assay.recount_sessions(organization uuid, session_ids text[]) returns void
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
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

-- Subtracts deleted requests from the totals of their sessions: the rows become what recount_sessions would make of them, without
-- reading what is left. `gone` is an array of the deleted rows of assay.requests that count in sessions, with the columns below.
-- Run it after the deletion, in the same transaction.
--
-- What is no sum is looked up, only where a deleted row had it, and only between first_at and last_at: that also passes over the
-- index entries of former deletions, which stay until a vacuum. The look-ups find their rows by indexes, so that a request
-- costs the same whether its session has ten or a million.
create or replace function assay.subtract_from_sessions(organization uuid, gone jsonb) returns void
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  few_names   constant integer := 20; -- looked up in less than a millisecond
  session_ids text[];
  begun       timestamptz[]; -- before and after
  recounted   text[] := '{}';
  deleted     record;
  session     assay.sessions;
begin
  select array_agg(distinct g.session_id) into session_ids from jsonb_to_recordset(gone) as g (session_id text);
  perform from assay.sessions s
    where s.organization_id = organization and s.session_id = any(session_ids)
    order by s.session_id for update;
  -- "offset 0" keeps the order of the join: from the deleted names to their rows, whatever Postgres estimates.
  delete from assay.session_names n
   using (select distinct g.session_id, g.session_name as name
            from jsonb_to_recordset(gone) as g (session_id text, session_name text)
           where g.session_name is not null) named
   cross join lateral (select s.first_at, s.last_at from assay.sessions s
                        where s.organization_id = organization and s.session_id = named.session_id offset 0) whole
   where n.organization_id = organization and n.session_id = named.session_id and n.name = named.name
     and not exists (
       select from assay.requests r
        where r.organization_id = organization and r.session_id = n.session_id and r.session_name = n.name
          and r.source <> 'evaluator' and r.created_at between whole.first_at and whole.last_at);
  for deleted in
    select g.session_id, min(g.created_at) as first_at, max(g.created_at) as last_at, count(*) as requests,
           count(g.latency_ms) as timed_requests, coalesce(sum(g.latency_ms), 0) as latency_ms,
           coalesce(sum(g.prompt_tokens), 0) as prompt_tokens,
           coalesce(sum(g.completion_tokens), 0) as completion_tokens,
           coalesce(sum(g.total_tokens), 0) as total_tokens, sum(g.cost_nano) as cost_nano,
           max(g.created_at) filter (where g.session_name is not null) as named_at
      from jsonb_to_recordset(gone) as g (session_id text, session_name text, created_at timestamptz, latency_ms bigint,
             prompt_tokens bigint, completion_tokens bigint, total_tokens bigint, cost_nano bigint)
     group by g.session_id
  loop
    select s.* into session from assay.sessions s
     where s.organization_id = organization and s.session_id = deleted.session_id;
    -- No request is left, which is quickly found. Or the session has no totals, or too low ones, because a build without
    -- sessions stored its requests: then it gets the right ones.
    if not found or session.requests <= deleted.requests then
      recounted := recounted || deleted.session_id;
      continue;
    end if;
    begun := begun || session.first_at;
    if deleted.first_at = session.first_at then
      select coalesce(min(first.created_at), session.first_at) into session.first_at from (
        select r.created_at from assay.requests r
         where r.organization_id = organization and r.session_id = deleted.session_id and r.source <> 'evaluator'
           and r.created_at between session.first_at and session.last_at
         order by r.created_at limit 1) first;
    end if;
    if deleted.last_at = session.last_at then
      select coalesce(max(last.created_at), session.last_at) into session.last_at from (
        select r.created_at from assay.requests r
         where r.organization_id = organization and r.session_id = deleted.session_id and r.source <> 'evaluator'
           and r.created_at between session.first_at and session.last_at
         order by r.created_at desc limit 1) last;
    end if;
    if deleted.named_at = session.named_at then
      -- Looks at each name that is left, where they are few. Where they are many, so are the requests with one, and it
      -- walks back to the next of them.
      if (select count(*) from (
            select from assay.session_names n
             where n.organization_id = organization and n.session_id = deleted.session_id limit few_names + 1) n) <= few_names then
        select n.name, newest.created_at into session.name, session.named_at
          from assay.session_names n
          cross join lateral (
            select r.created_at from assay.requests r
             where r.organization_id = organization and r.session_id = deleted.session_id and r.session_name = n.name
               and r.source <> 'evaluator' and r.created_at between session.first_at and deleted.named_at
             order by r.created_at desc limit 1) newest
         where n.organization_id = organization and n.session_id = deleted.session_id
         order by newest.created_at desc, n.name desc limit 1;
      else
        select r.session_name, r.created_at into session.name, session.named_at
          from assay.requests r
         where r.organization_id = organization and r.session_id = deleted.session_id and r.source <> 'evaluator'
           and r.session_name is not null and r.created_at between session.first_at and deleted.named_at
         order by r.created_at desc, r.session_name collate "C" desc limit 1;
      end if;
    end if;
    if deleted.cost_nano is not null then
      session.cost_nano := session.cost_nano - deleted.cost_nano;
      -- Either no cost is known any more, or those that are known come to zero: then one of them is zero or less.
      if session.cost_nano = 0 and not exists (
        select from assay.requests r
         where r.organization_id = organization and r.session_id = deleted.session_id and r.source <> 'evaluator'
           and r.cost_nano <= 0 and r.created_at between session.first_at and session.last_at)
      then session.cost_nano := null; end if;
    end if;
    update assay.sessions s
       set first_at = session.first_at, last_at = session.last_at, requests = s.requests - deleted.requests,
           timed_requests = s.timed_requests - deleted.timed_requests, latency_ms = s.latency_ms - deleted.latency_ms,
           prompt_tokens = s.prompt_tokens - deleted.prompt_tokens,
           completion_tokens = s.completion_tokens - deleted.completion_tokens,
           total_tokens = s.total_tokens - deleted.total_tokens, cost_nano = session.cost_nano, name = session.name,
           named_at = session.named_at, was_long = s.is_long
     where s.organization_id = organization and s.session_id = deleted.session_id;
    begun := begun || session.first_at;
  end loop;

  if begun is not null then
    perform assay.mark_session_spans(array_fill(organization, array[cardinality(begun)]), begun);
  end if;
  if cardinality(recounted) > 0 then perform assay.recount_sessions(organization, recounted); end if;
end $$;
