-- Revision 2
-- What gateways call to count requests and to look at counters, each in one round trip; and their upkeep.

-- Grants up to `need`, and up to `ahead` in advance, but of what is left in advance no more than one share of
-- `shares`: so the last ones are granted one by one, and the sum of all grants reaches the quota and no more. First
-- returns `back`, what an earlier grant of `back_key` at `back_ms` left unspent.
create or replace function assay.limit_take(
  ask assay.limit_ask, need bigint, ahead bigint, shares bigint, back_key bytea, back_ms bigint, back bigint
) returns assay.limit_answer
language plpgsql as $$
declare
  c       assay.limit_counters := assay.limit_lock(ask);
  free    bigint;
  granted bigint;
begin
  if c.counter_key = back_key then
    c.windows := assay.limit_charge(c.windows, back_ms, -back);
  end if;
  free := greatest(0, c.windows[1].quota - assay.limit_used(c.windows[1]));
  granted := least(free, need);
  granted := granted + least(ahead, (free - granted) / shares);
  if granted > 0 then
    c.windows := assay.limit_charge(c.windows, c.seen_ms, granted);
  end if;
  perform assay.limit_save(c);
  return assay.limit_answer_of(c, granted);
end $$;

-- Returns what grants left unspent. Counters are locked in the order of their keys, as in every function that locks
-- more than one.
create or replace function assay.limit_give_back(
  organization_ids uuid[], hex_keys text[], ats_ms bigint[], amounts bigint[]
) returns void
language plpgsql as $$
declare
  given record;
  c     assay.limit_counters;
begin
  perform set_config('synchronous_commit', 'off', true);
  for given in
    select g.organization_id, decode(g.hex_key, 'hex') as counter_key, g.at_ms, g.amount
      from unnest(organization_ids, hex_keys, ats_ms, amounts) g (organization_id, hex_key, at_ms, amount)
     order by 1, 2
  loop
    c := assay.limit_held(given.organization_id, given.counter_key);
    continue when c.counter_key is null;
    c.windows := assay.limit_charge(c.windows, given.at_ms, -given.amount);
    perform assay.limit_put(c);
  end loop;
end $$;

-- Counts what gateways admitted while the database was away, whatever the quota: each amount `ages_ms` ago.
create or replace function assay.limit_count(ask assay.limit_ask, ages_ms bigint[], amounts bigint[]) returns void
language plpgsql as $$
declare
  c assay.limit_counters := assay.limit_lock(ask);
begin
  for i in 1 .. cardinality(amounts) loop
    c.windows := assay.limit_charge(c.windows, c.seen_ms - ages_ms[i], amounts[i]);
  end loop;
  perform assay.limit_save(c);
end $$;

-- Returns a counter's state without changing it. A value without a counter of its own is answered by the overflow
-- counter, if there is one.
create or replace function assay.limit_peek(ask assay.limit_ask) returns assay.limit_answer
language plpgsql stable as $$
declare
  c assay.limit_counters;
begin
  select * into c from assay.limit_counters l
   where l.organization_id = ask.organization_id
     and l.counter_key in (ask.counter_key, assay.limit_overflow_key(ask))
     and (l.counter_key = ask.counter_key or ask.segment <> '')
   order by l.counter_key = ask.counter_key desc
   limit 1;
  if not found then
    c.counter_key := ask.counter_key;
    c.seen_ms := 0;
    c.windows := '{}';
  end if;
  c := assay.limit_now(c);
  c.windows := assay.limit_arrange(c.windows, ask, c.seen_ms);
  return assay.limit_answer_of(c, 0);
end $$;

-- Records that a gateway is alive, and returns how many are.
create or replace function assay.limit_beat(process text) returns integer
language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into assay.limit_gateways values (process, clock_timestamp())
    on conflict (process_id) do update set seen_at = excluded.seen_at;
  return (select count(*) from assay.limit_gateways where seen_at > clock_timestamp() - interval '10 seconds');
end $$;

-- Deletes expired rows, at most `most` of each kind, for one gateway at a time. Returns how many rows were deleted. A
-- reservation is kept for a day beyond its end, for a cost that comes late, and for some minutes once it is settled,
-- so that settling it again changes nothing.
create or replace function assay.limit_sweep(most integer) returns bigint
language plpgsql as $$
declare
  swept        bigint := 0;
  gone         bigint;
  organization uuid;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('assay.limit_sweep', 0)) then
    return 0;
  end if;
  for organization in
    select distinct e.organization_id
      from (select organization_id from assay.limit_counters
             where expires_at < clock_timestamp() order by expires_at limit most) e
     order by 1
  loop
    perform from assay.limit_cardinality where organization_id = organization for update;
    with expired as (
      select counter_key from assay.limit_counters
       where organization_id = organization and expires_at < clock_timestamp()
       order by expires_at limit most for update skip locked
    ), deleted as (
      delete from assay.limit_counters c using expired e
       where c.organization_id = organization and c.counter_key = e.counter_key
      returning c.segment
    ), counted as (
      update assay.limit_cardinality
         set counters = counters - (select count(*) from deleted where segment not in ('', '*'))
       where organization_id = organization
    )
    select count(*) into gone from deleted;
    swept := swept + gone;
  end loop;
  with deleted as (
    delete from assay.limit_reservations where ctid in (
      select ctid from assay.limit_reservations
       where kept_until < clock_timestamp() order by kept_until limit most for update skip locked)
    returning 1
  )
  select count(*) into gone from deleted;
  delete from assay.limit_gateways where seen_at < clock_timestamp() - interval '1 minute';
  return swept + gone;
end $$;
