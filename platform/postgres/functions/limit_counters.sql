-- Revision 2
-- Counters of rate limits, shared by all gateways: one row a counter, locked for the length of one function call. Time
-- is this server's, and never goes back for a counter by less than a minute: it stands still until the clock has caught
-- up. By more it follows the clock, see assay.limit_now.

-- Returns the key of the counter that takes all values of an API key and unit for which there was no room.
create or replace function assay.limit_overflow_key(ask assay.limit_ask) returns bytea
language sql immutable as $$
  select substring(sha256(convert_to(concat_ws(' ', 'overflow', ask.api_key_id, ask.unit), 'UTF8')) for 16)
$$;

-- Makes the row of a counter that has none, and returns its key. A value for which there is no room is counted with
-- all others of its API key and unit. As long as that overflow counter holds anything, every new value is counted
-- there too, because a value that was counted there must not start anew. Takes the organization's lock before the
-- counter's, as the sweep does.
create or replace function assay.limit_make_counter(ask assay.limit_ask) returns bytea
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

-- Returns the asked window first, then the others that are still of use: eight at most. The windows that have not been
-- asked for the longest are dropped, except the longest window, from which any other can be made without forgetting.
create or replace function assay.limit_arrange(windows assay.limit_window[], ask assay.limit_ask, now_ms bigint)
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

-- Returns a counter as of now. Where its time is more than a minute ahead of the clock, the clock was wrong and is set
-- right, or another server took over: standing still for longer than the shortest window would refuse calls for as long
-- as the clock was ahead, which can be days. Its counts move back with it, and so stay as long as they would have from
-- now on: no window admits more than its quota.
create or replace function assay.limit_now(c assay.limit_counters) returns assay.limit_counters
language plpgsql stable as $$
declare
  now_ms   bigint := floor(extract(epoch from clock_timestamp()) * 1000);
  ahead_ms bigint := c.seen_ms - now_ms;
begin
  if ahead_ms > 60000 then
    for i in 1 .. cardinality(c.windows) loop
      c.windows[i].newest := c.windows[i].newest + now_ms / c.windows[i].width_ms - c.seen_ms / c.windows[i].width_ms;
      c.windows[i].asked_ms := c.windows[i].asked_ms - ahead_ms;
    end loop;
    c.expires_at := c.expires_at - ahead_ms * interval '1 millisecond';
    c.seen_ms := now_ms;
  end if;
  c.seen_ms := greatest(c.seen_ms, now_ms);
  for i in 1 .. cardinality(c.windows) loop
    c.windows[i] := assay.limit_slide(c.windows[i], c.seen_ms);
  end loop;
  return c;
end $$;

-- Returns the counter, locked until the transaction ends, with its windows as of now and the asked one first. The
-- commit is not flushed to disk: a server that crashes may forget the last moments, which is cheaper than a flush for
-- every call.
create or replace function assay.limit_lock(ask assay.limit_ask) returns assay.limit_counters
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
  c := assay.limit_now(c);
  c.windows := assay.limit_arrange(c.windows, ask, c.seen_ms);
  return c;
end $$;

-- Writes a locked counter back. `expires_at` is set later than necessary so that it seldom changes, because it is
-- indexed.
create or replace function assay.limit_save(c assay.limit_counters) returns void
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

-- Returns an existing counter, locked and as it was left; null if there is none.
create or replace function assay.limit_held(organization uuid, key bytea) returns assay.limit_counters
language sql as $$
  select c from assay.limit_counters c where c.organization_id = organization and c.counter_key = key for update
$$;

-- Writes back a held counter whose counts were corrected: its time does not move.
create or replace function assay.limit_put(c assay.limit_counters) returns void
language sql as $$
  update assay.limit_counters set windows = c.windows
   where organization_id = c.organization_id and counter_key = c.counter_key
$$;

-- Returns the state of a counter as gateways receive it. Durations count from `at_ms`.
create or replace function assay.limit_answer_of(c assay.limit_counters, granted bigint) returns assay.limit_answer
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
