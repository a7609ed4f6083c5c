-- Revision 1
-- Figures of GET /v1/system from tables that the API's role may not read.

-- Counts dead letters, each count up to `at_most`: those of the transaction's organization, and the others. The others are
-- counted only when it is the only organization: else they are other tenants', and `others` is null. Letters whose organization
-- could not be read are among the others.
create or replace function assay.count_dead_letters(at_most integer, out own integer, out others integer)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  caller uuid := nullif(current_setting('assay.organization', true), '')::uuid;
begin
  if caller is null then raise exception 'count_dead_letters needs an organization'; end if;
  select count(*) into own
    from (select from assay.dead_letters where organization_id = caller limit at_most) letters;
  if exists (select from assay.organizations where organization_id <> caller) then return; end if;
  select count(*) into others
    from (select from assay.dead_letters where organization_id is distinct from caller limit at_most) letters;
end $$;
revoke execute on function assay.count_dead_letters(integer) from public;
grant execute on function assay.count_dead_letters(integer) to assay_api;
