-- Revision 1
-- Dead letters for the API's role, which may not read the table. A letter belongs to the organization that its entry names.
-- One that names none that exists is of the only organization where there is only one; elsewhere it may be any tenant's, and
-- the command line alone sees it.

-- Whether the organization is the only one.
create or replace function assay.is_only_organization(own uuid) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select own is not null and not exists (select from assay.organizations where organization_id <> own)
$$;
revoke execute on function assay.is_only_organization(uuid) from public;

-- Returns letters of the transaction's organization, the newest first: those before an id, with one reason, or one by its id;
-- null: all. `beginning` is the first bytes of the entry.
create or replace function assay.list_dead_letters(
  only_id bigint, before_id bigint, of_reason text, at_most integer, beginning_bytes integer
) returns table (dead_letter_id bigint, created_at timestamptz, request_id text, origin text, reason text, size integer,
                 beginning bytea)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  own     uuid := nullif(current_setting('assay.organization', true), '')::uuid;
  is_only boolean := assay.is_only_organization(own);
begin
  if own is null then raise exception 'list_dead_letters needs an organization'; end if;
  return query
    select d.dead_letter_id, d.created_at, d.request_id, d.origin, d.reason, octet_length(d.entry),
           substring(d.entry from 1 for beginning_bytes)
      from assay.dead_letters d
     where (is_only or d.organization_id = own)
       and (only_id is null or d.dead_letter_id = only_id)
       and (before_id is null or d.dead_letter_id < before_id)
       and (of_reason is null or d.reason = of_reason)
     order by d.dead_letter_id desc limit at_most;
end $$;
revoke execute on function assay.list_dead_letters(bigint, bigint, text, integer, integer) from public;
grant execute on function assay.list_dead_letters(bigint, bigint, text, integer, integer) to assay_api;

-- Returns bytes of the entry of a letter that list_dead_letters shows.
create or replace function assay.dead_letter_bytes(letter bigint, first_byte integer, at_most integer) returns bytea
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select substring(d.entry from first_byte + 1 for at_most)
    from assay.dead_letters d cross join nullif(current_setting('assay.organization', true), '') as t (own)
   where d.dead_letter_id = letter
     and (d.organization_id = own::uuid or assay.is_only_organization(own::uuid))
$$;
revoke execute on function assay.dead_letter_bytes(bigint, integer, integer) from public;
grant execute on function assay.dead_letter_bytes(bigint, integer, integer) to assay_api;

-- Appends an entry of the audit log about a letter, for the organization that it belongs to; for one of nobody's, none.
create or replace function assay.audit_dead_letter(action text, letter bigint, owner uuid, request text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select assay.append_audit(o.organization_id, action, 'dead_letter', letter::text,
                            jsonb_strip_nulls(jsonb_build_object('request_id', request)))
    from assay.organizations o
   where o.organization_id = owner or assay.is_only_organization(o.organization_id)
$$;
revoke execute on function assay.audit_dead_letter(text, bigint, uuid, text) from public;

-- Deletes one letter, or all (null): of one organization, or of any (null). Returns the number of deleted ones.
create or replace function assay.drop_dead_letters(letter bigint, own uuid) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  gone  record;
  count integer := 0;
begin
  for gone in
    delete from assay.dead_letters d
     where (letter is null or d.dead_letter_id = letter)
       and (own is null or d.organization_id = own or assay.is_only_organization(own))
    returning d.dead_letter_id, d.organization_id, d.request_id
  loop
    perform assay.audit_dead_letter('delete', gone.dead_letter_id, gone.organization_id, gone.request_id);
    count := count + 1;
  end loop;
  return count;
end $$;
revoke execute on function assay.drop_dead_letters(bigint, uuid) from public;

-- Deletes a letter that list_dead_letters shows. Returns whether there was one.
create or replace function assay.drop_dead_letter(letter bigint) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  own uuid := nullif(current_setting('assay.organization', true), '')::uuid;
begin
  if own is null then raise exception 'drop_dead_letter needs an organization'; end if;
  return assay.drop_dead_letters(letter, own) = 1;
end $$;
revoke execute on function assay.drop_dead_letter(bigint) from public;
grant execute on function assay.drop_dead_letter(bigint) to assay_api;
