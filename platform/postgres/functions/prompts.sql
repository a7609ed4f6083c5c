-- Revision 1
-- Triggers of stored prompts.

-- Notifies the processes that cache prompts of every change, by the prompt's id. Postgres sends equal notifications of one
-- transaction once.
create or replace function assay.notify_prompts() returns trigger language plpgsql as $$
begin
  perform pg_notify('assay_prompts', coalesce(new.prompt_id, old.prompt_id)::text);
  return null;
end $$;

create or replace trigger prompts_changed after insert or update or delete on assay.prompts
  for each row execute function assay.notify_prompts();
create or replace trigger prompt_versions_changed after insert or update or delete on assay.prompt_versions
  for each row execute function assay.notify_prompts();
create or replace trigger prompt_environments_changed after insert or update or delete on assay.prompt_environments
  for each row execute function assay.notify_prompts();

-- Refuses every change of a version except its deletion, which keeps its number.
create or replace function assay.keep_prompt_version() returns trigger language plpgsql as $$
begin
  if old.deleted_at is null and new.deleted_at is not null
    and (new.version_id, new.prompt_id, new.organization_id, new.major, new.minor, new.created_at)
      = (old.version_id, old.prompt_id, old.organization_id, old.major, old.minor, old.created_at) then
    return new;
  end if;
  raise exception 'A version of a prompt never changes' using errcode = 'restrict_violation';
end $$;

create or replace trigger prompt_versions_kept before update on assay.prompt_versions
  for each row execute function assay.keep_prompt_version();
