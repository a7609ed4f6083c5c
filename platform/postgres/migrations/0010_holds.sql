-- Up Migration
-- Holds: a gateway reserves the estimates of all calls that ask at the same time in one row, and money for calls to come
-- with them, and tells what became of the row when they have ended. assay.limit_reserve remains for what was admitted
-- while nobody could ask.

-- Which of its gateway's words a reservation stands at: they say what it is now, not what changed, so a word can be
-- repeated, and one that was overtaken by a later one changes nothing.
alter table assay.limit_reservations add column turn integer not null default 0;

-- What a counter answers, and what was reserved for calls to come.
create type assay.limit_hold_answer as (counter assay.limit_answer, ahead bigint);

-- Reserves estimates, in order, each while less than the quota is used: `granted` says how many were, and those are the
-- first ones, because what refuses one refuses the next. Then for calls to come up to `ahead`, but no more of what is
-- left than one share of `shares`, and nothing rather than less than `smallest`: so small quotas, and the last of large
-- ones, go call by call. It is all one reservation, to be spent while the answer says.
create function assay.limit_hold(
  ask assay.limit_ask, id text, estimates bigint[], ahead bigint, smallest bigint, shares bigint, open_ms bigint
) returns assay.limit_hold_answer
language plpgsql as $$
declare
  c          assay.limit_counters := assay.limit_lock(ask);
  used       bigint := assay.limit_used(c.windows[1]);
  quota      bigint := c.windows[1].quota;
  reserved   bigint := 0;
  granted    integer := 0;
  estimate   bigint;
  open_until timestamptz := clock_timestamp() + open_ms * interval '1 millisecond';
begin
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

-- Replaces what is reserved by what is known of it now: by what its calls cost (null: the estimate stands), or while some
-- of them are under way (`stay_open`) by that and their estimates. Each id comes once. What is settled, or not known, is
-- left alone, and so is what a later turn was told of already.
drop function assay.limit_settle(uuid[], text[], bigint[]);
create function assay.limit_settle(
  organization_ids uuid[], ids text[], costs bigint[], turns integer[] default '{}', stay_open boolean[] default '{}'
) returns void
language plpgsql as $$
declare
  due record;
  c   assay.limit_counters;
begin
  perform set_config('synchronous_commit', 'off', true);
  -- Counters before their reservations, as whoever reserves.
  perform from assay.limit_counters l
    where (l.organization_id, l.counter_key) in (
      select r.organization_id, r.counter_key
        from unnest(organization_ids, ids) s (organization_id, reservation_id)
        join assay.limit_reservations r using (organization_id, reservation_id))
    order by l.organization_id, l.counter_key for update;
  for due in
    select r.*, coalesce(s.cost, r.estimate_nano) as cost, coalesce(s.turn, r.turn + 1) as told,
           coalesce(s.stays_open, false) as stays_open
      from unnest(organization_ids, ids, costs, turns, stay_open)
           s (organization_id, reservation_id, cost, turn, stays_open)
      join assay.limit_reservations r using (organization_id, reservation_id)
     where r.settled_nano is null and coalesce(s.turn, r.turn + 1) > r.turn
     order by r.organization_id, r.counter_key, r.reservation_id
       for update of r
  loop
    update assay.limit_reservations
       set turn = due.told,
           estimate_nano = case when due.stays_open then due.cost else estimate_nano end,
           settled_nano = case when due.stays_open then null else due.cost end,
           kept_until = case when due.stays_open then kept_until else clock_timestamp() + interval '10 minutes' end
     where organization_id = due.organization_id and reservation_id = due.reservation_id and settled_nano is null;
    continue when not found;
    if (c.organization_id, c.counter_key) is distinct from (due.organization_id, due.counter_key) then
      perform assay.limit_put(c);
      c := assay.limit_held(due.organization_id, due.counter_key);
    end if;
    continue when c.counter_key is null;
    c.windows := assay.limit_charge(c.windows, due.charged_ms, due.cost - due.estimate_nano);
  end loop;
  perform assay.limit_put(c);
end $$;
