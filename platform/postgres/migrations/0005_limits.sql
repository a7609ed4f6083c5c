-- Up Migration
-- Counters of rate limits, shared by all gateways. One row a counter, locked for the length of one function call; time
-- is this server's, and never goes back for a counter. core/rate-limit/window.ts explains the window and is its model.

-- What one window of a counter holds. Every admission is counted in all the windows that its counter has, so that a
-- change of a policy's window keeps what was used.
create type assay.limit_window as (
  window_s integer,
  width_ms integer,  -- of a sub-bucket
  depth    integer,  -- sub-buckets kept: those of a window, and one
  quota    bigint,   -- last asked for
  asked_ms bigint,   -- when
  newest   bigint,   -- sub-bucket, counted from the epoch
  counts   bigint[]  -- newest first, 1-based; those that are missing are 0
);

create table assay.limit_counters (
  organization_id uuid not null,
  counter_key     bytea not null,              -- 16 bytes of a hash of what follows
  api_key_id      uuid,                        -- null: all keys together
  unit            text not null,               -- request | cents | log
  segment         text collate "C" not null,   -- '': one counter for all; '*': those for whom there was no room
  value           text collate "C" not null,   -- to be shown: its first 256 characters
  seen_ms         bigint not null,             -- the latest time this counter has known
  expires_at      timestamptz not null,        -- nothing counts any more from then on at the latest
  windows         assay.limit_window[] not null, -- the last asked first; 8 at most
  primary key (organization_id, counter_key)
) with (fillfactor = 50); -- room for the next version of a row in its own page: no index is touched
create index on assay.limit_counters (expires_at);

-- How many counters of values an organization has: what bounds them. Its row is the lock of who adds one.
create table assay.limit_cardinality (
  organization_id uuid primary key,
  counters        integer not null
);

-- Estimates of calls under way, and for a while what became of them, so that settling twice is settling once.
create table assay.limit_reservations (
  organization_id uuid not null,
  reservation_id  text collate "C" not null,
  counter_key     bytea not null,
  charged_ms      bigint not null,      -- the counter's time: says which sub-bucket holds it
  estimate_nano   bigint not null,
  expires_at      timestamptz not null, -- open no longer, and charged; settling still corrects it
  settled_nano    bigint,               -- null: not settled
  kept_until      timestamptz not null,
  primary key (organization_id, reservation_id)
) with (fillfactor = 80);
create index on assay.limit_reservations (organization_id, counter_key) where settled_nano is null;
create index on assay.limit_reservations (kept_until);

-- The gateways that live.
create table assay.limit_gateways (
  process_id text primary key,
  seen_at    timestamptz not null
);

-- ── One window ──────────────────────────────────────────────────────────────────────────────────────────────────────

-- Lets go of the sub-buckets that a time has left behind.
create function assay.limit_slide(w assay.limit_window, now_ms bigint) returns assay.limit_window
language plpgsql immutable as $$
declare
  steps bigint := now_ms / w.width_ms - w.newest;
begin
  if steps <= 0 then
    return w;
  end if;
  if steps >= w.depth then
    w.counts := array[0::bigint];
  else
    w.counts := (array_fill(0::bigint, array[steps::integer]) || w.counts)[1:w.depth];
  end if;
  w.newest := w.newest + steps;
  return w;
end $$;

create function assay.limit_used(w assay.limit_window) returns bigint
language plpgsql immutable as $$
declare
  used  bigint := 0;
  count bigint;
begin
  foreach count in array w.counts loop
    used := used + count;
  end loop;
  return used;
end $$;

-- Adds to the sub-bucket of a time, or corrects it, down to nothing; what has left the window is left alone.
create function assay.limit_add(w assay.limit_window, at_ms bigint, amount bigint) returns assay.limit_window
language plpgsql immutable as $$
declare
  place integer := greatest(0, w.newest - at_ms / w.width_ms) + 1;
begin
  if place > w.depth then
    return w;
  end if;
  if place > cardinality(w.counts) then
    w.counts := w.counts || array_fill(0::bigint, array[place - cardinality(w.counts)]);
  end if;
  w.counts[place] := greatest(0, w.counts[place] + amount);
  return w;
end $$;

-- When at most `target` counts, if nothing more is admitted; `now_ms` if that is so already.
create function assay.limit_free_at(w assay.limit_window, now_ms bigint, target bigint) returns bigint
language plpgsql immutable as $$
declare
  used bigint := assay.limit_used(w);
begin
  for place in reverse cardinality(w.counts) .. 1 loop
    exit when used <= target;
    used := used - w.counts[place];
    if used <= target then
      return (w.newest - place + 1 + w.depth) * w.width_ms;
    end if;
  end loop;
  return now_ms;
end $$;

-- A window that a counter did not have: it starts from what the shortest one that covers it remembers, else from the
-- longest; each count at the last moment that it may be from, so that it stays at least as long as it must.
create function assay.limit_new_window(
  windows assay.limit_window[], window_s integer, width_ms integer, depth integer, now_ms bigint
) returns assay.limit_window
language plpgsql immutable as $$
declare
  made   assay.limit_window := (window_s, width_ms, depth, 0, now_ms, now_ms / width_ms, array[0::bigint]);
  source assay.limit_window;
begin
  select * into source from unnest(windows) w
   order by w.window_s >= made.window_s desc, case when w.window_s >= made.window_s then w.window_s else -w.window_s end
   limit 1;
  if found then
    for place in 1 .. cardinality(source.counts) loop
      if source.counts[place] > 0 then
        made := assay.limit_add(
          made, least(now_ms, (source.newest - place + 2) * source.width_ms - 1), source.counts[place]);
      end if;
    end loop;
  end if;
  return made;
end $$;

-- ── One counter ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- Who a counter belongs to, and the window it is asked by.
create type assay.limit_ask as (
  organization_id uuid,
  counter_key     bytea,
  api_key_id      uuid,
  unit            text,
  segment         text,
  value           text,
  max_counters    integer, -- of values, in the organization
  window_s        integer,
  width_ms        integer,
  depth           integer,
  quota           bigint
);

-- The counter that takes those of a key and unit for whom there was no room.
create function assay.limit_overflow_key(ask assay.limit_ask) returns bytea
language sql immutable as $$
  select substring(sha256(convert_to(concat_ws(' ', 'overflow', ask.api_key_id, ask.unit), 'UTF8')) for 16)
$$;

-- Makes the row of a counter that has none, and returns its key. A value for which there is no room is counted with
-- all others of its API key and unit; and as long as that counter holds anything, so is every new one: who was
-- counted there must not start anew. Takes the organization's lock before that of the counter, as the sweep does.
create function assay.limit_make_counter(ask assay.limit_ask) returns bytea
language plpgsql as $$
declare
  overflow bytea := assay.limit_overflow_key(ask);
  held     integer;
begin
  if ask.segment <> '' then
    insert into assay.limit_cardinality values (ask.organization_id, 0) on conflict do nothing;
    select counters into held from assay.limit_cardinality where organization_id = ask.organization_id for update;
    if held >= ask.max_counters or exists (
      select from assay.limit_counters c
       where c.organization_id = ask.organization_id and c.counter_key = overflow and c.expires_at > clock_timestamp())
    then
      ask.counter_key := overflow;
      ask.segment := '*';
      ask.value := '';
    end if;
  end if;
  insert into assay.limit_counters values (
    ask.organization_id, ask.counter_key, ask.api_key_id, ask.unit, ask.segment, ask.value,
    0, clock_timestamp() + 1.25 * ask.depth * ask.width_ms * interval '1 millisecond', '{}'
  ) on conflict do nothing;
  if found and ask.segment not in ('', '*') then
    update assay.limit_cardinality set counters = counters + 1 where organization_id = ask.organization_id;
  end if;
  return ask.counter_key;
end $$;

-- The asked window first, then the others that are still of use. There are eight at most: those go that were not
-- asked for longest, but not the longest window, from which any other can be made again without forgetting.
create function assay.limit_arrange(windows assay.limit_window[], ask assay.limit_ask, now_ms bigint)
returns assay.limit_window[]
language plpgsql immutable as $$
declare
  asked  assay.limit_window;
  others assay.limit_window[];
begin
  if cardinality(windows) = 1 and windows[1].window_s = ask.window_s then
    asked := windows[1];
  else
    select w.* into asked from unnest(windows) w where w.window_s = ask.window_s;
    if not found then
      asked := assay.limit_new_window(windows, ask.window_s, ask.width_ms, ask.depth, now_ms);
    end if;
    others := array(
      select w from (select o, max(o.window_s) over () as longest
                       from unnest(windows) o
                      where o.window_s <> ask.window_s
                        and now_ms - o.asked_ms <= o.window_s * 1000::bigint) kept (w, longest)
       order by (w).window_s = longest desc, (w).asked_ms desc
       limit 7);
  end if;
  asked.quota := ask.quota;
  asked.asked_ms := now_ms;
  return asked || others;
end $$;

-- The counter, locked until the statement ends, its windows as of now and the asked one first. What is written is not
-- waited for: a server that crashes may forget the last moments, which is cheaper than a disk's turn for every call.
create function assay.limit_lock(ask assay.limit_ask) returns assay.limit_counters
language plpgsql as $$
declare
  c   assay.limit_counters;
  key bytea := ask.counter_key;
begin
  perform set_config('synchronous_commit', 'off', true);
  loop
    select * into c from assay.limit_counters
     where organization_id = ask.organization_id and counter_key = key for update;
    exit when found;
    key := assay.limit_make_counter(ask);
  end loop;
  c.seen_ms := greatest(c.seen_ms, floor(extract(epoch from clock_timestamp()) * 1000));
  for i in 1 .. cardinality(c.windows) loop
    c.windows[i] := assay.limit_slide(c.windows[i], c.seen_ms);
  end loop;
  c.windows := assay.limit_arrange(c.windows, ask, c.seen_ms);
  return c;
end $$;

-- Counts an amount in all windows, in the sub-buckets of a time.
create function assay.limit_charge(windows assay.limit_window[], at_ms bigint, amount bigint)
returns assay.limit_window[]
language plpgsql immutable as $$
begin
  for i in 1 .. cardinality(windows) loop
    windows[i] := assay.limit_add(windows[i], at_ms, amount);
  end loop;
  return windows;
end $$;

-- Writes a locked counter back. When it expires is put later than it must be, so that it seldom changes: it has an
-- index.
create function assay.limit_save(c assay.limit_counters) returns void
language plpgsql as $$
declare
  free_ms bigint := 0;
  span_ms bigint := 0;
begin
  for i in 1 .. cardinality(c.windows) loop
    free_ms := greatest(free_ms, (c.windows[i].newest + c.windows[i].depth) * c.windows[i].width_ms);
    span_ms := greatest(span_ms, c.windows[i].depth * c.windows[i].width_ms::bigint);
  end loop;
  if c.expires_at < to_timestamp(free_ms / 1000.0) then
    c.expires_at := to_timestamp((free_ms + span_ms / 4) / 1000.0);
  end if;
  update assay.limit_counters set seen_ms = c.seen_ms, windows = c.windows, expires_at = c.expires_at
   where organization_id = c.organization_id and counter_key = c.counter_key;
end $$;

-- A counter that is there, locked, as it was left; null when there is none.
create function assay.limit_held(organization uuid, key bytea) returns assay.limit_counters
language sql as $$
  select c from assay.limit_counters c where c.organization_id = organization and c.counter_key = key for update
$$;

-- Writes back what was held, to be corrected only: its time does not move.
create function assay.limit_put(c assay.limit_counters) returns void
language sql as $$
  update assay.limit_counters set windows = c.windows
   where organization_id = c.organization_id and counter_key = c.counter_key
$$;

-- ── What gateways call: each one round trip ─────────────────────────────────────────────────────────────────────────

-- What a counter answers. Durations are counted from at_ms.
create type assay.limit_answer as (
  counter_key bytea,    -- who was charged: it may be the one that takes those without a counter of their own
  at_ms       bigint,
  granted     bigint,
  used        bigint,   -- what is granted included
  life_ms     bigint,   -- how long the granted may be spent: until a sub-bucket ends
  reset_ms    bigint,   -- until nothing counts any more
  retry_ms    bigint    -- until one more would be granted
);

create function assay.limit_answer_of(c assay.limit_counters, granted bigint) returns assay.limit_answer
language plpgsql immutable as $$
declare
  answer assay.limit_answer;
  asked  assay.limit_window := c.windows[1];
begin
  answer.counter_key := c.counter_key;
  answer.at_ms := c.seen_ms;
  answer.granted := granted;
  answer.used := assay.limit_used(asked);
  answer.reset_ms := assay.limit_free_at(asked, c.seen_ms, 0) - c.seen_ms;
  answer.retry_ms := case when answer.used < asked.quota then 0
    else assay.limit_free_at(asked, c.seen_ms, asked.quota - 1) - c.seen_ms end;
  -- The clock was read to the millisecond below: the one that had begun is not there to be spent.
  for i in 1 .. cardinality(c.windows) loop
    answer.life_ms := least(answer.life_ms, (c.windows[i].newest + 1) * c.windows[i].width_ms - c.seen_ms - 1);
  end loop;
  return answer;
end $$;

-- Grants up to `need`, and ahead of need up to `ahead`, but no more of what is left than one share of `shares`: so the
-- last ones go one by one, and the sum granted reaches the quota and no more. `back` returns what an earlier grant, of
-- `back_key` at `back_ms`, left unspent.
create function assay.limit_take(
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

-- Returns what grants left unspent. Counters in the order of their keys, as everything that locks more than one.
create function assay.limit_give_back(
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

-- Counts what was admitted while nobody could ask, whatever the quota; each amount so many milliseconds ago.
create function assay.limit_count(ask assay.limit_ask, ages_ms bigint[], amounts bigint[]) returns void
language plpgsql as $$
declare
  c assay.limit_counters := assay.limit_lock(ask);
begin
  for i in 1 .. cardinality(amounts) loop
    c.windows := assay.limit_charge(c.windows, c.seen_ms - ages_ms[i], amounts[i]);
  end loop;
  perform assay.limit_save(c);
end $$;

-- Reserves estimates, in order, each while less than the quota is used: `granted` says how many were, and those are the
-- first ones, because what refuses one refuses the next. One that is there already is granted and counts once. `forced`
-- are those that were admitted while nobody could ask: they are counted, whatever the quota, so many milliseconds ago.
create function assay.limit_reserve(
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

-- Replaces estimates by what calls cost (null: the estimate stands), where they were counted. A reservation that is
-- settled, or not known, is left alone.
create function assay.limit_settle(organization_ids uuid[], ids text[], costs bigint[]) returns void
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
    select r.*, coalesce(s.cost, r.estimate_nano) as cost
      from unnest(organization_ids, ids, costs) s (organization_id, reservation_id, cost)
      join assay.limit_reservations r using (organization_id, reservation_id)
     where r.settled_nano is null
     order by r.organization_id, r.counter_key, r.reservation_id
       for update of r
  loop
    update assay.limit_reservations
       set settled_nano = due.cost, kept_until = clock_timestamp() + interval '10 minutes'
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

-- What a counter would answer, without touching it. Who has no counter would be counted with those who have none.
create function assay.limit_peek(ask assay.limit_ask) returns assay.limit_answer
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
  c.seen_ms := greatest(c.seen_ms, floor(extract(epoch from clock_timestamp()) * 1000));
  for i in 1 .. cardinality(c.windows) loop
    c.windows[i] := assay.limit_slide(c.windows[i], c.seen_ms);
  end loop;
  c.windows := assay.limit_arrange(c.windows, ask, c.seen_ms);
  return assay.limit_answer_of(c, 0);
end $$;

-- A gateway says that it lives, and learns how many do.
create function assay.limit_beat(process text) returns integer
language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into assay.limit_gateways values (process, clock_timestamp())
    on conflict (process_id) do update set seen_at = excluded.seen_at;
  return (select count(*) from assay.limit_gateways where seen_at > clock_timestamp() - interval '10 seconds');
end $$;

-- Deletes what is of no use any more, `most` of each kind at a time; one gateway at a time. Returns how much it was.
-- A reservation is kept a day beyond its end, for a cost that comes late, and once settled some minutes, for who asks
-- twice.
create function assay.limit_sweep(most integer) returns bigint
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

-- ── Who may look ────────────────────────────────────────────────────────────────────────────────────────────────────

grant select on assay.limit_counters, assay.limit_reservations to assay_api;
alter table assay.limit_counters enable row level security;
alter table assay.limit_reservations enable row level security;
create policy own_organization on assay.limit_counters to assay_api
  using (organization_id = nullif(current_setting('assay.organization', true), '')::uuid);
create policy own_organization on assay.limit_reservations to assay_api
  using (organization_id = nullif(current_setting('assay.organization', true), '')::uuid);
