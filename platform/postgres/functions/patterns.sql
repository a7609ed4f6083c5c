-- Revision 1
-- Patterns of `like` that are compared in steps. Postgres compares each character of a text with each of a pattern at worst,
-- and looks for time limits and cancellations only before and afterwards: for 10,000 characters in 10 MB, after minutes.

-- Returns how many characters come before the first match of a piece, a pattern of `length` characters without "%". Null:
-- none. A step compares at most so many characters, those of the text times those of the piece.
create or replace function assay.find_piece(value text, piece text, length integer, step bigint) returns integer
language plpgsql immutable strict parallel safe as $$
declare
  total integer := char_length(value);
  half  integer := (total - length + 1) / 2;
  found integer;
begin
  if total < length then return null; end if;
  if total::bigint * length <= step or half = 0 then
    if value not like '%' || piece || '%' then return null; end if;
    if half = 0 then return 0; end if;
  -- As much of its beginning as one step can look for: most texts do not have that. No half of a "\%" stays at its end.
  elsif value not like '%' || rtrim(left(piece, (step / total)::integer), '\') || '%' then return null;
  end if;
  found := assay.find_piece(left(value, half + length - 1), piece, length, step);
  if found is not null then return found; end if;
  return half + assay.find_piece(substr(value, half + 1), piece, length, step);
end $$;

-- Returns whether a text is like a pattern, of which `pieces` are what stands between its "%"; with `folds`, as `ilike` compares.
create or replace function assay.like_in_steps(value text, pieces text[], folds boolean, step bigint) returns boolean
language plpgsql immutable strict parallel safe as $$
declare
  last    integer := cardinality(pieces);
  lengths integer[];
  ends    integer;
  found   integer;
begin
  if folds then
    value := lower(value collate "default");
    select array_agg(lower(piece collate "default") order by place) into pieces
      from unnest(pieces) with ordinality as t (piece, place);
  end if;
  -- Without what makes a character literal.
  select array_agg(char_length(regexp_replace(piece, '\\(.)', '\1', 'g')) order by place) into lengths
    from unnest(pieces) with ordinality as t (piece, place);
  ends := lengths[1] + lengths[last];
  if ends > 0 then
    if char_length(value) < ends or left(value, lengths[1]) not like pieces[1]
      or right(value, lengths[last]) not like pieces[last] then return false;
    end if;
    value := substr(value, lengths[1] + 1, char_length(value) - ends);
  end if;
  -- The first match of each leaves the most to those behind it.
  for place in 2 .. last - 1 loop
    found := assay.find_piece(value, pieces[place], lengths[place], step);
    if found is null then return false; end if;
    value := substr(value, found + lengths[place] + 1);
  end loop;
  return true;
end $$;
