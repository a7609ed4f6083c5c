-- Revision 10
-- Erasure of requests, and what keeps an erased request from coming back.
--
-- A transaction that adds something under the id of a request (its record, an evaluation of a run, its cached answer)
-- holds the organization's erasure lock shared, and looks for the tombstone after it has the lock. An erasure holds it
-- alone. So the addition is committed before the erasure looks, and is erased; or it sees the tombstone.
--
-- What may take seconds, such as the import of a dataset, holds the organization's long lock shared instead, and an erasure waits
-- for that one first: while it waits for the other lock, nobody else gets it, so ingest would wait for the import, too.

-- Returns the key of an organization's erasure lock.
create or replace function assay.erasure_lock(organization uuid) returns bigint language sql immutable as $$
  select hashtextextended('assay.erasure ' || organization::text, 0)
$$;

-- Returns the key of the lock for additions that may take long.
create or replace function assay.long_erasure_lock(organization uuid) returns bigint language sql immutable as $$
  select hashtextextended('assay.erasure of long additions ' || organization::text, 0)
$$;

-- Returns the hash of a folded property, the key of the property index: core/contracts/properties.ts computes the same.
create or replace function assay.property_hash(folded_name text, value text) returns bigint language sql immutable as $$
  select ('x' || left(encode(sha256(convert_to(
    '[' || to_json(folded_name)::text || ',' || to_json(value)::text || ']', 'UTF8')), 'hex'), 16))::bit(64)::int8
$$;

-- Locks the organizations of log entries against erasure until the transaction ends, and returns the positions, from 1,
-- of the entries that were erased. The arrays are parallel. `evaluations` has, for a judge's call, the evaluation that it
-- was made for, else null. The plan is fixed, because it is made while the table is small and used when it no longer is.
create or replace function assay.find_erased(organizations uuid[], requests text[], evaluations bigint[])
  returns setof integer language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  -- In one order, so that no two transactions wait for each other in a circle.
  perform pg_advisory_xact_lock_shared(assay.erasure_lock(organization))
    from (select distinct organization from unnest(organizations) as organization
           where organization is not null order by organization) ordered;
  if not exists (select from assay.erased_requests) and not exists (select from assay.erased_evaluations) then return; end if;
  return query
    select entries.position::integer
      from unnest(organizations, requests, evaluations) with ordinality
             as entries (organization, request, evaluation, position)
      left join lateral (select true as is_erased from assay.erased_requests t
                          where t.organization_id = entries.organization and t.request_id = entries.request
                         offset 0) of_request on true
      left join lateral (select true as is_erased from assay.erased_evaluations t
                          where t.evaluation_id = entries.evaluation and t.organization_id = entries.organization
                         offset 0) of_evaluation on true
     where of_request.is_erased or of_evaluation.is_erased;
end $$;

-- Returns the ids of the calls that experiments made, or are making, of items that were made from these requests, and of items
-- that were made from such calls.
create or replace function assay.calls_of_items_from(organization uuid, sources text[])
  returns setof text language sql stable set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  with recursive copies (id) as (
    select unnest(sources) collate "C"
    union
    select called.id
      from copies
      join assay.dataset_items i on i.organization_id = organization and i.source_request_id = copies.id
      join assay.experiments x on x.organization_id = organization and x.dataset_id = i.dataset_id
                              and i.from_version <= x.dataset_version
                              and (i.to_version is null or i.to_version > x.dataset_version)
      cross join lateral (
        select r.request_id from assay.experiment_runs r
         where r.experiment_id = x.experiment_id and r.item_id = i.item_id and r.request_id is not null
        union all
        select r.call_id from assay.experiment_runs r
         where r.experiment_id = x.experiment_id and r.item_id = i.item_id and r.call_id is not null
        union all
        select c.request_id from assay.experiment_calls c
         where c.experiment_id = x.experiment_id and c.item_id = i.item_id) called (id)
  )
  select id from copies where id <> all(sources)
$$;

-- Those of `wanted` that callers chose for requests, but for erased ones. Their records may still be in an outbox or in NATS, and
-- are dropped for the tombstone when they come: an erasure that ingest is behind of would else find nothing, and they would stay.
create or replace function assay.claimed_and_not_erased(own uuid, wanted text[]) returns text[]
  language sql stable set search_path = pg_catalog, pg_temp as $$
  select array(
    select c.request_id from assay.claimed_request_ids c
     where c.organization_id = own and c.request_id = any(wanted)
       and not exists (select from assay.erased_requests t
                        where t.organization_id = own and t.request_id = c.request_id))
$$;
revoke all on function assay.claimed_and_not_erased(uuid, text[]) from public;

-- Erases requests of the transaction's organization: records, bodies, properties, scores, people's grades, evaluations with
-- the judges' own calls, cached answers, dead letters, parts of entries, the contents of dataset items that were made from
-- them, in all versions, and the calls that experiments made of such items. Leaves tombstones, and announces the ids to the
-- gateways, which hold cached answers in memory. A request that only a dataset has left, because its record was too old to keep,
-- can be erased too.
--
-- `erased` is the number of these requests that were there; `known` that of those that are erased now or were before.
--
-- Runs as the owner, because the API's role may not see most of these tables; the organization is not a parameter, so that
-- a caller under that role can reach its own only. Its plans look every row up by its key, whatever Postgres estimates:
-- for tables that were not analyzed yet it would read all rows of the organization for each of these requests.
create or replace function assay.erase_requests(wanted text[], by_key uuid, out erased integer, out known integer)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_bitmapscan = off set enable_material = off
  set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  own                uuid := nullif(current_setting('assay.organization', true), '')::uuid;
  present_ids        text[];
  copied_ids         text[]; -- these, and calls of experiments that were sent their texts
  evaluation_ids     bigint[];
  judge_ids          text[];
  erased_ids         text[]; -- all of those, and their judges' calls
  session_requests   jsonb; -- what of them counts in sessions
  judged_sessions    text[]; -- those that evaluations of sessions may quote the requests of
  record_times       timestamptz[];
  record_ids         text[];
  record_properties  jsonb[];
  pair_hashes        bigint[];
  pair_times         timestamptz[];
  pair_ids           text[];
begin
  if own is null then raise exception 'erase_requests needs an organization'; end if;
  erased := 0;
  -- Without the lock: a caller may ask for an id again and again that is not there yet.
  if not exists (select from assay.requests r where r.organization_id = own and r.request_id = any(wanted))
     and not exists (select from assay.dead_letters d where d.organization_id = own and d.request_id = any(wanted))
     and not exists (select from assay.dataset_items i
                      where i.organization_id = own and i.source_request_id = any(wanted))
     and cardinality(assay.claimed_and_not_erased(own, wanted)) = 0 then
    -- After the look for the requests, and below after the lock: another call may have erased them meanwhile.
    select count(*) into known from assay.erased_requests t where t.organization_id = own and t.request_id = any(wanted);
    return;
  end if;
  perform pg_advisory_xact_lock(assay.long_erasure_lock(own));
  perform pg_advisory_xact_lock(assay.erasure_lock(own));
  select count(*) into known from assay.erased_requests t where t.organization_id = own and t.request_id = any(wanted);

  select array(
    select r.request_id from assay.requests r where r.organization_id = own and r.request_id = any(wanted)
    union
    select d.request_id from assay.dead_letters d where d.organization_id = own and d.request_id = any(wanted)
    union
    select i.source_request_id from assay.dataset_items i
     where i.organization_id = own and i.source_request_id = any(wanted)
    union
    select unnest(assay.claimed_and_not_erased(own, wanted)))
    into present_ids;
  -- A call that is under way is stored later, and then dropped for its tombstone.
  select present_ids || array(select id from assay.calls_of_items_from(own, present_ids) as id)
    into copied_ids;
  select array(select distinct r.session_id from assay.requests r
                where r.organization_id = own and r.request_id = any(copied_ids) and r.session_id is not null)
    into judged_sessions;
  -- First of all, and so before the scores: an evaluation that is being settled writes its score before this statement
  -- gets its row, or finds no row. Judges' calls are found by the property that names the evaluation, because a process
  -- reports them when it settles, and it may have been killed before.
  with of_requests as (
    delete from assay.evaluations e where e.organization_id = own and e.request_id = any(copied_ids)
    returning e.evaluation_id, e.lane, e.judge_request_ids
  ), of_pairs as (
    -- Those that judge another answer beside an erased one: their reasoning may quote it. A row is deleted once.
    delete from assay.evaluations e
     where e.organization_id = own and e.baseline_id <> '' and e.baseline_id = any(copied_ids)
       and e.request_id <> all(copied_ids)
    returning e.evaluation_id, e.lane, e.judge_request_ids
  ), of_sessions as (
    -- Those of a session that one of them belongs to: a judge was sent all of it. What comes after is evaluated anew.
    delete from assay.evaluations e
     where e.organization_id = own and e.session_id = any(judged_sessions) and e.session_id is not null
       and e.request_id <> all(copied_ids)
    returning e.evaluation_id, e.lane, e.judge_request_ids
  ), gone as (
    select * from of_requests union all select * from of_pairs union all select * from of_sessions
  ), marked as (
    insert into assay.erased_evaluations (evaluation_id, organization_id)
    select evaluation_id, own from gone where lane = 'remote' on conflict do nothing
  )
  select array(select evaluation_id from gone),
         array(select made.request_id from gone cross join unnest(judge_request_ids) as made (request_id))
    into evaluation_ids, judge_ids;
  select judge_ids || array(
    select r.request_id
      from unnest(evaluation_ids) as gone (evaluation_id)
      join assay.request_properties p
        on p.organization_id = own and p.pair_hash = assay.property_hash('assay-evaluation-id', gone.evaluation_id::text)
      join assay.requests r on r.organization_id = own and r.created_at = p.created_at and r.request_id = p.request_id
     where r.source = 'evaluator' and r.properties_folded ->> 'assay-evaluation-id' = gone.evaluation_id::text)
    into judge_ids;
  select array(select distinct id from unnest(copied_ids || judge_ids) as id) into erased_ids;

  insert into assay.erased_requests (organization_id, request_id, erased_by)
    select own, id, by_key from unnest(erased_ids) as id on conflict do nothing;
  with gone as (
    delete from assay.requests r where r.organization_id = own and r.request_id = any(erased_ids)
    returning r.created_at, r.request_id, r.properties_folded, r.source, r.session_id, r.session_name, r.latency_ms,
              r.prompt_tokens, r.completion_tokens, r.total_tokens, r.cost_nano
  )
  select array_agg(created_at), array_agg(request_id), array_agg(properties_folded),
         jsonb_agg(jsonb_build_object(
           'session_id', session_id, 'session_name', session_name, 'created_at', created_at, 'latency_ms', latency_ms,
           'prompt_tokens', prompt_tokens, 'completion_tokens', completion_tokens, 'total_tokens', total_tokens,
           'cost_nano', cost_nano)) filter (where session_id is not null and source <> 'evaluator')
    into record_times, record_ids, record_properties, session_requests
    from gone;
  if record_ids is not null then
    insert into assay.changes (organization_id, kind, created_ats, request_ids) values (own, 'deleted', record_times, record_ids);
  end if;
  -- The fresh ones first: who moves them is waited for, and the next statement sees where they went.
  delete from assay.fresh_bodies b using unnest(record_times, record_ids) as gone (created_at, request_id)
   where b.organization_id = own and b.created_at = gone.created_at and b.request_id = gone.request_id;
  delete from assay.request_bodies b using unnest(record_times, record_ids) as gone (created_at, request_id)
   where b.organization_id = own and b.created_at = gone.created_at and b.request_id = gone.request_id;
  delete from assay.request_scores s using unnest(record_times, record_ids) as gone (created_at, request_id)
   where s.organization_id = own and s.created_at = gone.created_at and s.request_id = gone.request_id;
  -- After the requests: a grade that is under way holds its request, and is committed before this statement looks.
  delete from assay.grades g where g.organization_id = own and g.request_id = any(erased_ids);
  delete from assay.grade_history h where h.organization_id = own and h.request_id = any(erased_ids);
  delete from assay.review_items i where i.organization_id = own and i.request_id = any(erased_ids); -- and their skips
  -- The hashes apart, so that each row is looked up by the whole key.
  select array_agg(assay.property_hash(key, value)), array_agg(gone.created_at), array_agg(gone.request_id)
    into pair_hashes, pair_times, pair_ids
    from unnest(record_times, record_ids, record_properties) as gone (created_at, request_id, properties)
    cross join lateral jsonb_each_text(gone.properties);
  delete from assay.request_properties p
   using unnest(pair_hashes, pair_times, pair_ids) as gone (pair_hash, created_at, request_id)
   where p.organization_id = own and p.pair_hash = gone.pair_hash and p.created_at = gone.created_at
     and p.request_id = gone.request_id;
  if session_requests is not null then perform assay.subtract_from_sessions(own, session_requests); end if;

  -- Writers of items hold the long lock shared, so that none is adding one of these. The item keeps its id and its split.
  update assay.dataset_items i
     set request = null, expected = null, metadata = '{}', external_id = null, cluster = null, source_request_id = null,
         content_sha256 = sha256(''), erased_at = clock_timestamp()
   where i.organization_id = own and i.source_request_id = any(erased_ids);
  delete from assay.cached_answers c where c.organization_id = own and c.request_id = any(erased_ids);
  delete from assay.dead_letters d where d.organization_id = own and d.request_id = any(erased_ids);
  -- The head of an entry is in its first part, after three lengths: see core/contracts/log-entry-codec.ts.
  delete from assay.entry_parts where origin in (
    select parts.origin
      from assay.entry_parts parts
      cross join lateral (select substring(bytes from 13 for get_byte(bytes, 0) + 256 * get_byte(bytes, 1)
                                                            + 65536 * get_byte(bytes, 2)) as head) first_part
     where parts.part = 0 and octet_length(bytes) > 12
       and position(convert_to('"organizationId":"' || own::text || '"', 'UTF8') in head) > 0
       and exists (select from unnest(erased_ids) as id
                    where position(convert_to('"id":"' || id || '"', 'UTF8') in head) > 0));
  -- An id that is longer is in no cache. A notification has at most 8,000 bytes.
  perform pg_notify('assay_erasures', own::text || ' ' || string_agg(id, ' '))
     from (select id, (row_number() over () - 1) / 100 as chunk from unnest(erased_ids) as id where length(id) <= 40) ids
    group by chunk;
  perform assay.append_audit(own, 'erase', 'request', case when cardinality(present_ids) = 1 then present_ids[1] else '' end,
                             jsonb_build_object('requests', cardinality(present_ids)));
  erased := cardinality(present_ids);
  known := known + erased;
end $$;
revoke all on function assay.erase_requests(text[], uuid) from public;
grant execute on function assay.erase_requests(text[], uuid) to assay_api;
