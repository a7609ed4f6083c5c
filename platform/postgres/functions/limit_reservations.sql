-- Revision 2
-- Reservations of money: a gateway reserves the estimates of calls that begin, and settles them when the calls have
-- ended.

-- Replaces the reserved amounts of a locked counter by what their gateway knows now. `turns` says at which of the
-- gateway's settlements, so that one may be repeated, and one that a later settlement overtook changes nothing;
-- `stay_open` says whether calls of the reservation are still under way. Reservations that are settled, unknown or of
-- another counter are left alone. A gateway that gave up waiting for a reservation settles it then, and again when its
-- answer comes after all: an id that is there twice counts once. Returns the counter, which the caller writes.
create or replace function assay.limit_hear(
  c assay.limit_counters, ids text[], costs bigint[], turns integer[], stay_open boolean[]
) returns assay.limit_counters
language plpgsql as $$
declare
  due record;
begin
  for due in
    select r.reservation_id, r.charged_ms, r.estimate_nano, s.cost, s.turn, s.stays_open
      from (select distinct on (1) *
              from unnest(ids, costs, turns, stay_open) t (reservation_id, cost, turn, stays_open)
             order by 1, turn desc) s
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

-- Replaces reserved amounts by what is known of them now: by what the calls cost (null: the estimate stands), or while
-- some are under way (`stay_open`) by that and their estimates. Goes through one counter after the other. Without
-- `turns` and `stay_open`, which older gateways do not pass, every reservation is settled for good.
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

-- Settles the reservations of this counter that the gateway reports (`told_…`), as assay.limit_settle does. Then
-- reserves estimates in order, each while less than the quota is used: `granted` is how many were reserved, always the
-- first ones. Then reserves up to `ahead` for calls to come, but no more than one share of `shares` of what is left,
-- and nothing rather than less than `smallest`: so small quotas, and the last of large ones, go call by call. All of
-- it is one reservation, to be spent while the answer says.
create or replace function assay.limit_hold(
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

-- Reserves estimates in order, each while less than the quota is used. `granted` is how many were reserved: always the
-- first ones, because what refuses one refuses the next. A reservation that exists already is granted and counts once.
-- With `forced`, the calls were admitted while the database was away, `ages_ms` ago: they are counted whatever the
-- quota.
create or replace function assay.limit_reserve(
  ask assay.limit_ask, ids text[], estimates bigint[], ages_ms bigint[], forced boolean, open_ms bigint
) returns assay.limit_answer
language plpgsql as $$
declare
  c          assay.limit_counters := assay.limit_lock(ask);
  used       bigint := assay.limit_used(c.windows[1]);
  at_ms      bigint;
  open_until timestamptz;
  granted    integer := 0;
begin
  for i in 1 .. cardinality(ids) loop
    at_ms := c.seen_ms - ages_ms[i];
    if not forced and used >= c.windows[1].quota then
      exit when not exists (select from assay.limit_reservations r
                             where r.organization_id = c.organization_id and r.reservation_id = ids[i]);
    end if;
    granted := i;
    open_until := clock_timestamp() + (open_ms - ages_ms[i]) * interval '1 millisecond';
    insert into assay.limit_reservations values (
      c.organization_id, ids[i], c.counter_key, at_ms, estimates[i], open_until, null, open_until + interval '1 day'
    ) on conflict do nothing;
    if found then
      c.windows := assay.limit_charge(c.windows, at_ms, estimates[i]);
      used := used + estimates[i];
    end if;
  end loop;
  perform assay.limit_save(c);
  return assay.limit_answer_of(c, granted);
end $$;
