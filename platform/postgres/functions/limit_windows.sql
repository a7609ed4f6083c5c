-- Revision 1
-- One window of a counter. core/rate-limit/window.ts is the model of these functions; tests compare the two.

-- Returns the window as of `now_ms`, without the sub-buckets that have left it.
create or replace function assay.limit_slide(w assay.limit_window, now_ms bigint) returns assay.limit_window
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

-- Returns the sum of the window's sub-buckets.
create or replace function assay.limit_used(w assay.limit_window) returns bigint
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

-- Adds `amount`, which may be negative, to the sub-bucket of `at_ms`. A sub-bucket never falls below 0. An amount
-- whose sub-bucket has left the window is ignored.
create or replace function assay.limit_add(w assay.limit_window, at_ms bigint, amount bigint) returns assay.limit_window
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

-- Returns when at most `target` will be used if nothing more is admitted; `now_ms` if that is so already.
create or replace function assay.limit_free_at(w assay.limit_window, now_ms bigint, target bigint) returns bigint
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

-- Returns a window that the counter did not have. It starts with the counts of the shortest window that covers it, or
-- else of the longest. Each count is placed at the last moment it may have come from, so that it stays at least as
-- long as it must.
create or replace function assay.limit_new_window(
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

-- Adds an amount to the sub-bucket of `at_ms` in every window.
create or replace function assay.limit_charge(windows assay.limit_window[], at_ms bigint, amount bigint)
returns assay.limit_window[]
language plpgsql immutable as $$
begin
  for i in 1 .. cardinality(windows) loop
    windows[i] := assay.limit_add(windows[i], at_ms, amount);
  end loop;
  return windows;
end $$;
