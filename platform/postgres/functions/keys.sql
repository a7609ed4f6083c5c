-- Revision 1
-- Triggers of API keys, organizations and provider keys.

-- Notifies the processes that cache keys of every change, by the id of the key or the organization. A new key is
-- announced without its id: a process that looked it up before it was made must look again, and no process need forget
-- it. A process may know a key before it hears that it was made, and would lose it if Postgres went away at that
-- moment.
create or replace function assay.notify_keys() returns trigger language plpgsql as $$
declare
  changed jsonb := to_jsonb(coalesce(new, old));
  is_new  boolean := tg_table_name = 'api_keys' and tg_op = 'INSERT';
begin
  perform pg_notify('assay_keys',
    case when is_new then 'new key' else coalesce(changed ->> 'key_id', changed ->> 'organization_id') end);
  return null;
end $$;
