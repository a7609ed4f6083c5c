-- Up Migration
-- What each call of a judge costs, once for each request id: as its evaluators process reports, until its record is
-- stored, and from then on as the record says. So a call whose process was killed before it could report is counted too.
-- assay.evaluation_spend, which budgets are compared with, is the sum of these.
create table assay.judge_calls (
  organization_id uuid not null,
  request_id      text collate "C" not null,
  evaluator_id    uuid not null,
  day             date not null, -- UTC
  cost_nano       bigint not null,
  is_recorded     boolean not null, -- false: as reported
  counted_at      timestamptz(3) not null default now(),
  primary key (organization_id, request_id)
);
create index on assay.judge_calls (counted_at); -- for retention
alter table assay.judge_calls enable row level security;

-- What was reported before counts in assay.evaluation_spend already: records of these calls that are still to come add
-- nothing. Older ones would count towards days that are over.
insert into assay.judge_calls (organization_id, request_id, evaluator_id, day, cost_nano, is_recorded)
select organization_id, made.request_id, evaluator_id, (now() at time zone 'UTC')::date, 0, true
  from assay.evaluations cross join unnest(judge_request_ids) as made (request_id)
 where finished_at is null or finished_at > now() - interval '1 day'
on conflict do nothing;

-- Rows change one after another in the order of their keys, so that two statements that only add calls, or only change some,
-- cannot wait for each other. Who does both in one transaction takes a lock first: see api/ingest/judge-calls.ts.
create function assay.add_judge_calls() returns trigger language plpgsql as $$
begin
  insert into assay.evaluation_spend as s (organization_id, evaluator_id, day, cost_nano)
  select organization_id, evaluator_id, day, sum(cost_nano) from added
   group by organization_id, evaluator_id, day having sum(cost_nano) <> 0
   order by organization_id, day, evaluator_id
  on conflict (organization_id, day, evaluator_id) do update set cost_nano = s.cost_nano + excluded.cost_nano;
  return null;
end $$;
create function assay.change_judge_calls() returns trigger language plpgsql as $$
begin
  insert into assay.evaluation_spend as s (organization_id, evaluator_id, day, cost_nano)
  select a.organization_id, a.evaluator_id, a.day, sum(a.cost_nano - b.cost_nano)
    from after a join before b on b.organization_id = a.organization_id and b.request_id = a.request_id
   group by a.organization_id, a.evaluator_id, a.day having sum(a.cost_nano - b.cost_nano) <> 0
   order by a.organization_id, a.day, a.evaluator_id
  on conflict (organization_id, day, evaluator_id) do update set cost_nano = s.cost_nano + excluded.cost_nano;
  return null;
end $$;
create trigger added after insert on assay.judge_calls
  referencing new table as added for each statement execute function assay.add_judge_calls();
create trigger changed after update on assay.judge_calls
  referencing old table as before new table as after for each statement execute function assay.change_judge_calls();
