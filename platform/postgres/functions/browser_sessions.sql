-- Revision 1
-- Triggers of log-ins.

-- Notifies the processes that cache log-ins of each one that has ended, by its id. A new one is in no cache.
create or replace function assay.notify_browser_sessions() returns trigger language plpgsql as $$
begin
  perform pg_notify('assay_browser_sessions', old.session_id::text);
  return null;
end $$;

create or replace trigger browser_sessions_ended after delete on assay.browser_sessions
  for each row execute function assay.notify_browser_sessions();
