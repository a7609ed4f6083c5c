-- Up Migration
-- A gateway tells the counter what it knows of ended calls in the statement that asks for the next one: else calls that
-- come shortly after one another are decided by estimates, though their gateway knows what they cost.

-- Replaces what is reserved in a counter, which is locked, by what its gateway knows of it now: `told` says at which turn,
-- and `stays_open` whether calls are under way. What is settled, not known or of another counter is left alone, and so is
-- what a later turn was told of already. The counter is returned, to be written.
create function assay.limit_hear(
  c assay.limit_counters, ids text[], costs bigint[], turns integer[], stay_open boolean[]
) returns assay.limit_counters
language plpgsql as $$
declare
  due record;
begin
  for due in
    select r.reservation_id, r.charged_ms, r.estimate_nano, s.cost, s.turn, s.stays_open
      from unnest(ids, costs, turns, stay_open) s (reservation_id, cost, turn, stays_open)
      join assay.limit_reservations r
        on r.organization_id = c.organization_id and r.reservation_id = s.reservation_id
     where r.counter_key = c.counter_key and r.settled_nano is null and s.turn > r.turn
     order by r.reservation_id
       for update of r
  loop
    update assay.limit_reservations
       set turn = due.turn,
           estimate_nano = case when due.stays_open then due.cost else estimate_nano end,
           settled_nano = case when due.stays_open then null else due.cost end,
           kept_until = case when due.stays_open then kept_until else clock_timestamp() + interval '10 minutes' end
     where organization_id = c.organization_id and reservation_id = due.reservation_id;
    c.windows := assay.limit_charge(c.windows, due.charged_ms, due.cost - due.estimate_nano);
  end loop;
  return c;
end $$;

-- As before, of one counter after the other.
create or replace function assay.limit_settle(
  organization_ids uuid[], ids text[], costs bigint[], turns integer[] default '{}', stay_open boolean[] default '{}'
) returns void
language plpgsql as $$
declare
  due record;
  c   assay.limit_counters;
begin
  perform set_config('synchronous_commit', 'off', true);
  -- Counters before their reservations, as in every statement that reserves.
  perform from assay.limit_counters l
    where (l.organization_id, l.counter_key) in (
      select r.organization_id, r.counter_key
        from unnest(organization_ids, ids) s (organization_id, reservation_id)
        join assay.limit_reservations r using (organization_id, reservation_id))
    order by l.organization_id, l.counter_key for update;
  for due in
    select r.organization_id, r.counter_key,
           array_agg(r.reservation_id) as ids,
           array_agg(coalesce(s.cost, r.estimate_nano)) as costs,
           array_agg(coalesce(s.turn, r.turn + 1)) as turns,
           array_agg(coalesce(s.stays_open, false)) as stay_open
      from unnest(organization_ids, ids, costs, turns, stay_open)
           s (organization_id, reservation_id, cost, turn, stays_open)
      join assay.limit_reservations r using (organization_id, reservation_id)
     where r.settled_nano is null
     group by r.organization_id, r.counter_key
     order by r.organization_id, r.counter_key
  loop
    c := assay.limit_held(due.organization_id, due.counter_key);
    -- Of a counter that has expired nothing counts, but what was reserved is settled all the same.
    if c.counter_key is null then
      c.organization_id := due.organization_id;
      c.counter_key := due.counter_key;
      c.windows := '{}';
    end if;
    perform assay.limit_put(assay.limit_hear(c, due.ids, due.costs, due.turns, due.stay_open));
  end loop;
end $$;

-- Hears first what the gateway has to tell of this counter's reservations, as assay.limit_settle does; then decides.
drop function assay.limit_hold(assay.limit_ask, text, bigint[], bigint, bigint, bigint, bigint);
create function assay.limit_hold(
  ask assay.limit_ask, id text, estimates bigint[], ahead bigint, smallest bigint, shares bigint, open_ms bigint,
  told_ids text[] default '{}', told_costs bigint[] default '{}', told_turns integer[] default '{}',
  told_open boolean[] default '{}'
) returns assay.limit_hold_answer
language plpgsql as $$
declare
  c          assay.limit_counters := assay.limit_lock(ask);
  used       bigint;
  quota      bigint := c.windows[1].quota;
  reserved   bigint := 0;
  granted    integer := 0;
  estimate   bigint;
  open_until timestamptz := clock_timestamp() + open_ms * interval '1 millisecond';
begin
  if cardinality(told_ids) > 0 then
    c := assay.limit_hear(c, told_ids, told_costs, told_turns, told_open);
  end if;
  used := assay.limit_used(c.windows[1]);
  foreach estimate in array estimates loop
    exit when used + reserved >= quota;
    reserved := reserved + estimate;
    granted := granted + 1;
  end loop;
  ahead := least(ahead, greatest(0, quota - used - reserved) / shares);
  if ahead < smallest then
    ahead := 0;
  end if;
  reserved := reserved + ahead;
  if granted > 0 or ahead > 0 then
    insert into assay.limit_reservations values (
      c.organization_id, id, c.counter_key, c.seen_ms, reserved, open_until, null, open_until + interval '1 day');
    c.windows := assay.limit_charge(c.windows, c.seen_ms, reserved);
  end if;
  perform assay.limit_save(c);
  return (assay.limit_answer_of(c, granted), ahead)::assay.limit_hold_answer;
end $$;
