-- Revision 4
-- The audit log. Triggers write it, so that no statement, old or new, can forget to. Who makes a change is the setting
-- assay.actor of its transaction or connection: `api_key <id>`, `command_line`; where it is not set, the system itself.

-- Appends one entry. Runs as the owner: no other role may write the table.
create or replace function assay.append_audit(
  organization uuid, action text, kind text, target text, changes jsonb
) returns void language sql security definer set search_path = pg_catalog as $$
  insert into assay.audit_log
    (organization_id, at, actor_kind, actor_id, action, target_kind, target_id, changes)
  select organization, clock_timestamp(), coalesce(nullif(split_part(actor, ' ', 1), ''), 'system'),
         nullif(split_part(actor, ' ', 2), ''), action, kind, target, changes
    from (select coalesce(current_setting('assay.actor', true), '')) as t (actor)
$$;
revoke execute on function assay.append_audit(uuid, text, text, text, jsonb) from public;

-- Appends an entry about something that is no change of a configured row, such as an erasure, for the organization of the
-- transaction.
create or replace function assay.audit_event(action text, kind text, target text, changes jsonb) returns void
language sql security definer set search_path = pg_catalog as $$
  select assay.append_audit(current_setting('assay.organization')::uuid, action, kind, target, changes)
$$;
revoke execute on function assay.audit_event(text, text, text, jsonb) from public;
grant execute on function assay.audit_event(text, text, text, jsonb) to assay_api;

-- Returns a value of a row as the log shows it: times as everywhere, in UTC with milliseconds. A column's name tells that
-- it is a time.
create or replace function assay.audit_value(name text, value jsonb) returns jsonb
language sql stable set search_path = pg_catalog set timezone = 'UTC' as $$
  select case
    when name like '%\_at' and jsonb_typeof(value) = 'string' then
      to_jsonb(to_char((value #>> '{}')::timestamptz, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    else coalesce(value, 'null'::jsonb)
  end
$$;

-- The trigger. Its arguments: the kind of thing, the column of its id, the columns to show, and those of which only the
-- fact of a change is told; lists with commas. An update that changes none of them is not logged.
create or replace function assay.write_audit() returns trigger
language plpgsql security definer set search_path = pg_catalog as $$
declare
  before  jsonb := case when tg_op = 'INSERT' then '{}' else to_jsonb(old) end;
  after   jsonb := case when tg_op = 'DELETE' then '{}' else to_jsonb(new) end;
  entity  jsonb := case when tg_op = 'DELETE' then before else after end;
  changes jsonb := '{}';
  action  text := case tg_op when 'INSERT' then 'create' when 'UPDATE' then 'update' else 'delete' end;
  name    text;
begin
  foreach name in array string_to_array(tg_argv[2], ',') loop
    -- A row that is not there has nulls: of a new one only what it has is shown.
    if (before ->> name) is distinct from (after ->> name) then
      changes := changes || jsonb_build_object(name, jsonb_build_object(
        'from', assay.audit_value(name, before -> name), 'to', assay.audit_value(name, after -> name)));
    end if;
  end loop;
  foreach name in array string_to_array(tg_argv[3], ',') loop
    if (before -> name) is distinct from (after -> name) then
      changes := changes || jsonb_build_object(name, '{"changed": true}'::jsonb);
    end if;
  end loop;
  if tg_op = 'UPDATE' and changes = '{}' then return null; end if;
  -- What is marked as gone is gone, as its callers see it.
  if tg_op = 'UPDATE' and jsonb_typeof(changes #> '{revoked_at,to}') = 'string' then action := 'revoke'; end if;
  if tg_op = 'UPDATE' and jsonb_typeof(changes #> '{deleted_at,to}') = 'string' then action := 'delete'; end if;
  if tg_op = 'UPDATE' and jsonb_typeof(changes #> '{archived_at,to}') = 'string' then action := 'archive'; end if;
  if tg_op = 'INSERT' and jsonb_typeof(entity -> 'rotated_from') = 'string' then action := 'rotate'; end if;
  perform assay.append_audit((entity ->> 'organization_id')::uuid, action, tg_argv[0], entity ->> tg_argv[1], changes);
  return null;
end $$;

-- Has the changes of a table logged. The table has a column organization_id. Called below, once for each table.
create or replace function assay.audit_table(
  audited text, kind text, id text, shown text[], secret text[] default '{}'
) returns void language plpgsql as $$
begin
  execute format('drop trigger if exists audited on assay.%I', audited);
  execute format(
    'create trigger audited after insert or update or delete on assay.%I
       for each row execute function assay.write_audit(%L, %L, %L, %L)',
    audited, kind, id, array_to_string(shown, ','), array_to_string(secret, ','));
end $$;
revoke execute on function assay.audit_table(text, text, text, text[], text[]) from public;

-- Nobody changes what was logged, the owner included.
create or replace function assay.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'assay.% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end $$;
drop trigger if exists append_only on assay.audit_log;
create trigger append_only before update or delete or truncate on assay.audit_log
  for each statement execute function assay.refuse_change();

-- The audited tables. Columns that are not named are never shown: a new one is left out until it is added here.
select assay.audit_table('organizations', 'organization', 'organization_id',
  array['name', 'tier', 'logs_per_5s', 'evaluation_budget_nano']);
select assay.audit_table('api_keys', 'api_key', 'key_id',
  array['name', 'prefix', 'scopes', 'rate_limit_policy', 'expires_at', 'models', 'providers', 'paths', 'owner', 'tags',
        'rotated_from', 'revoked_at'],
  array['hash']);
select assay.audit_table('browser_sessions', 'browser_session', 'session_id', array['key_id', 'user_agent', 'expires_at'], array['hash']);
select assay.audit_table('provider_keys', 'provider_key', 'provider', array['provider'], array['sealed']);
select assay.audit_table('evaluators', 'evaluator', 'evaluator_id',
  array['name', 'scoring_type', 'version', 'paused_reason', 'daily_budget_nano', 'deleted_at']);
select assay.audit_table('online_evaluators', 'online_evaluator', 'online_id',
  array['evaluator_id', 'sample_rate', 'property_filters', 'filter', 'probe_rate']);
select assay.audit_table('prompts', 'prompt', 'prompt_id', array['name', 'tags', 'deleted_at']);
select assay.audit_table('prompt_versions', 'prompt_version', 'version_id',
  array['prompt_id', 'major', 'minor', 'commit_message', 'deleted_at'], array['body']);
select assay.audit_table('prompt_environments', 'prompt_environment', 'prompt_id', array['environment', 'version_id']);
select assay.audit_table('datasets', 'dataset', 'dataset_id', array['name', 'description', 'archived_at'],
  array['request_schema', 'expected_schema']);
select assay.audit_table('dataset_versions', 'dataset_version', 'dataset_id', array['version', 'message', 'items']);
select assay.audit_table('experiments', 'experiment', 'experiment_id', array['name', 'state', 'max_cost_nano']);
select assay.audit_table('erasure_jobs', 'erasure_job', 'job_id', array['state', 'until']);
select assay.audit_table('alerts', 'alert', 'alert_id',
  array['name', 'query', 'window_minutes', 'comparison', 'threshold', 'warning', 'for_minutes', 'no_data', 'webhook_ids',
        'enabled']);
select assay.audit_table('views', 'view', 'view_id', array['page', 'name', 'query']);
-- A chat system's address is a credential in itself.
select assay.audit_table('webhooks', 'webhook', 'webhook_id',
  array['events', 'filter', 'payload', 'format', 'paused_reason', 'deleted_at'], array['url', 'sealed']);
select assay.audit_table('criteria', 'criterion', 'criterion_id',
  array['name', 'description', 'kind', 'evaluator_id', 'archived_at']);
select assay.audit_table('review_queues', 'review_queue', 'queue_id',
  array['name', 'criterion_ids', 'source', 'per_item', 'archived_at']);
