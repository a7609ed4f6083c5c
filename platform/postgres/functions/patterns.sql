-- Revision 1
-- Patterns of `like` that are compared in steps. Postgres compares each byte of a text with each of a pattern at worst, and looks
-- for time limits and cancellations only before and afterwards: for 10,000 characters in 10 MB, after minutes. A step compares
-- at most so many bytes, those of the text times characters of the longest piece of the pattern between its "%".

-- Returns how many characters come before the first match of a piece of `length` characters. Null: none.
create or replace function assay.find_piece(value text, piece text, length integer, step bigint) returns integer
language plpgsql immutable strict parallel safe as $$
declare
  bytes integer := octet_length(value);
  total integer := char_length(value);
  half  integer := (total - length + 1) / 2;
  found integer;
begin
  if total < length then return null; end if;
  if bytes::bigint * length <= step or half = 0 then
    if value not like '%' || piece || '%' then return null; end if;
    if half = 0 then return 0; end if;
  -- As much of its beginning as one step can look for: most texts do not have that. No half of a "\%" stays at its end.
  elsif value not like '%' || rtrim(left(piece, (step / bytes)::integer), '\') || '%' then return null;
  end if;
  found := assay.find_piece(left(value, half + length - 1), piece, length, step);
  if found is not null then return found; end if;
  return half + assay.find_piece(substr(value, half + 1), piece, length, step);
end $$;

-- Returns how many characters end with the first match of a pattern, which a text as long as this one is compared with in one
-- step. Null: none.
create or replace function assay.find_end(value text, pattern text) returns integer
language plpgsql immutable strict parallel safe as $$
declare
  -- So many characters do not have the match, and so many do.
  shorter integer := -1;
  longer  integer := char_length(value);
  middle  integer;
begin
  if value not like '%' || pattern || '%' then return null; end if;
  while longer - shorter > 1 loop
    -- What is found is most often near the beginning.
    middle := shorter + greatest((longer - shorter) / case when shorter < 0 then 8 else 2 end, 1);
    if left(value, middle) like '%' || pattern || '%' then longer := middle; else shorter := middle; end if;
  end loop;
  return longer;
end $$;

-- Returns whether a text is like a pattern, of which `pieces` are what stands between its "%"; with `folds`, as `ilike` compares.
create or replace function assay.like_in_steps(value text, pieces text[], folds boolean, step bigint) returns boolean
language plpgsql immutable strict parallel safe as $$
declare
  last    integer := cardinality(pieces);
  lengths integer[];
  ends    integer;
  place   integer := 2;
  upto    integer;
  found   integer;
begin
  if folds then
    value := lower(value collate "default");
    -- Between their "%", as beside letters some fold in another way.
    select array_agg(substr(folded, 2, char_length(folded) - 2) order by place_of) into pieces
      from (select lower('%' || piece || '%' collate "default") as folded, place_of
              from unnest(pieces) with ordinality as t (piece, place_of)) t;
  end if;
  -- Without what makes a character literal.
  select array_agg(char_length(regexp_replace(piece, '\\(.)', '\1', 'g')) order by place_of) into lengths
    from unnest(pieces) with ordinality as t (piece, place_of);
  ends := lengths[1] + lengths[last];
  if ends > 0 then
    if char_length(value) < ends or left(value, lengths[1]) not like pieces[1]
      or right(value, lengths[last]) not like pieces[last] then return false;
    end if;
    value := substr(value, lengths[1] + 1, char_length(value) - ends);
  end if;
  -- The first match of each leaves the most to those behind it.
  while place < last loop
    upto := place;
    while upto < last and octet_length(value)::bigint * lengths[upto] <= step loop
      upto := upto + 1;
    end loop;
    if upto = last then return value like '%' || array_to_string(pieces[place:last - 1], '%') || '%'; end if;
    if upto > place then
      found := assay.find_end(value, array_to_string(pieces[place:upto - 1], '%'));
    else
      found := assay.find_piece(value, pieces[place], lengths[place], step) + lengths[place];
      upto := place + 1;
    end if;
    if found is null then return false; end if;
    value := substr(value, found + 1);
    place := upto;
  end loop;
  return true;
end $$;
