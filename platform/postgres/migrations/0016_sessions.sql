-- Up Migration
-- Sessions: the requests that share a session id, with totals that ingest keeps in the transaction of their records.
-- Requests of evaluators belong to no session.

-- Ids and names that their indexes could not hold are cut to 1,024 bytes, as those of new records are.
update assay.requests set session_id = (
  select left(session_id, n) from generate_series(0, 1024) as n
   where octet_length(left(session_id, n)) <= 1024 order by n desc limit 1)
 where octet_length(session_id) > 1024;
update assay.requests set session_name = (
  select left(session_name, n) from generate_series(0, 1024) as n
   where octet_length(left(session_name, n)) <= 1024 order by n desc limit 1)
 where octet_length(session_name) > 1024;
-- An empty header names no session.
update assay.requests set session_id = nullif(session_id, ''), session_name = nullif(session_name, '')
 where session_id = '' or session_name = '';

-- With what the distributions of sessions need, so that they read no rows.
create index on assay.requests (organization_id, session_id, created_at, request_id) include (source, cost_nano)
  where session_id is not null;

create table assay.sessions (
  organization_id     uuid not null,
  session_id          text collate "C" not null,
  first_at            timestamptz(3) not null, -- created_at of its oldest and its newest request
  last_at             timestamptz(3) not null,
  requests            bigint not null,
  timed_requests      bigint not null,         -- those with a latency, and their sum
  latency_ms          bigint not null,
  prompt_tokens       bigint not null,         -- sums of the known ones
  completion_tokens   bigint not null,
  total_tokens        bigint not null,
  cost_nano           bigint,                  -- sum of the known ones; null: none is known
  name                text collate "C",        -- of its newest request that has one
  named_at            timestamptz(3),
  tag                 text,
  feedback_rating     boolean,
  feedback_created_at timestamptz(3),
  -- A window of time cuts a short session only within six hours of its bounds, so only long ones are looked for elsewhere.
  is_long             boolean not null generated always as (last_at - first_at > interval '6 hours') stored,
  was_long            boolean not null default false, -- both before the latest change; null: there was none
  was_first_at        timestamptz(3),
  primary key (organization_id, session_id)
) with (fillfactor = 80); -- no index holds a column that every request changes: such updates stay within their page
create index on assay.sessions (organization_id, first_at, session_id);
create index on assay.sessions (organization_id, first_at, session_id) where is_long;

-- Every name that a session has had.
create table assay.session_names (
  organization_id uuid not null,
  session_id      text collate "C" not null,
  name            text collate "C" not null,
  primary key (organization_id, session_id, name)
);
create index on assay.session_names (organization_id, name, session_id);

-- Counts the late changes to the short sessions that began in a span of six hours (UTC): while the number is the same, so
-- are the sessions of a span that is over. Changes on time, within twelve hours, are not counted.
create table assay.session_spans (
  organization_id uuid not null,
  began_at        timestamptz not null,
  late_changes    bigint not null,
  primary key (organization_id, began_at)
);

insert into assay.sessions (organization_id, session_id, first_at, last_at, requests, timed_requests, latency_ms,
  prompt_tokens, completion_tokens, total_tokens, cost_nano, name, named_at)
select organization_id, session_id, min(created_at), max(created_at), count(*), count(latency_ms),
       coalesce(sum(latency_ms), 0), coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0),
       coalesce(sum(total_tokens), 0), sum(cost_nano),
       (array_agg(session_name order by created_at desc, session_name collate "C" desc)
          filter (where session_name is not null))[1],
       max(created_at) filter (where session_name is not null)
  from assay.requests
 where session_id is not null and source <> 'evaluator'
 group by organization_id, session_id;
insert into assay.session_names (organization_id, session_id, name)
select distinct organization_id, session_id, session_name
  from assay.requests
 where session_id is not null and session_name is not null and source <> 'evaluator';

grant select on assay.sessions, assay.session_names, assay.session_spans to assay_api;
grant update (tag, feedback_rating, feedback_created_at) on assay.sessions to assay_api;
do $$
declare
  name text;
begin
  foreach name in array array['sessions', 'session_names', 'session_spans'] loop
    execute format('alter table assay.%I enable row level security', name);
    execute format('create policy own_organization on assay.%I to assay_api
      using (organization_id = nullif(current_setting(''assay.organization'', true), '''')::uuid)', name);
  end loop;
end $$;
