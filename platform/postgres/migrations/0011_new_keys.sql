-- Up Migration
-- A new key is told without its id: who asked for it before it was made must ask again, and nobody need forget it. A
-- process may know a key before it hears that it was made, and would lose it if Postgres went away in that moment.
create or replace function assay.notify_keys() returns trigger language plpgsql as $$
declare
  changed jsonb := to_jsonb(coalesce(new, old));
  is_new  boolean := tg_table_name = 'api_keys' and tg_op = 'INSERT';
begin
  perform pg_notify('assay_keys',
    case when is_new then 'new key' else coalesce(changed ->> 'key_id', changed ->> 'organization_id') end);
  return null;
end $$;
