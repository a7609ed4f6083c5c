-- Revision 2
-- Triggers of assay.judge_calls: assay.evaluation_spend, which budgets are compared with, is its sum.

-- Adds the costs of new judge calls to the day's spend of their evaluators. Rows change in the order of their keys, so
-- that two statements that only add calls, or only change some, cannot wait for each other; a transaction that does
-- both takes a lock first (ingest/judge-calls.ts).
create or replace function assay.add_judge_calls() returns trigger language plpgsql as $$
begin
  insert into assay.evaluation_spend as s (organization_id, evaluator_id, day, cost_nano)
  select organization_id, evaluator_id, day, sum(cost_nano) from added
   group by organization_id, evaluator_id, day having sum(cost_nano) <> 0
   order by organization_id, day, evaluator_id
  on conflict (organization_id, day, evaluator_id) do update set cost_nano = s.cost_nano + excluded.cost_nano;
  return null;
end $$;

-- Adds the difference when a judge call's cost changes, in the same order.
create or replace function assay.change_judge_calls() returns trigger language plpgsql as $$
begin
  insert into assay.evaluation_spend as s (organization_id, evaluator_id, day, cost_nano)
  select a.organization_id, a.evaluator_id, a.day, sum(a.cost_nano - b.cost_nano)
    from after a join before b on b.organization_id = a.organization_id and b.request_id = a.request_id
   group by a.organization_id, a.evaluator_id, a.day having sum(a.cost_nano - b.cost_nano) <> 0
   order by a.organization_id, a.day, a.evaluator_id
  on conflict (organization_id, day, evaluator_id) do update set cost_nano = s.cost_nano + excluded.cost_nano;
  return null;
end $$;
