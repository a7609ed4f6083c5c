-- Up Migration
-- The users and values of properties with the most requests are found without adding up all of them: by lists of each day's
-- values in the order of their requests, and by the sums of all values of a day. See docs/decisions/0039-metrics.md.

-- Sums are added up from cells while no process replaces these. Retention waits too; readers do not.
select pg_advisory_xact_lock(hashtext('assay.rollups'));
lock table assay.rollup_values in share row exclusive mode;

create index if not exists rollup_values_86400s_requests
  on assay.rollup_values_86400s (organization_id, dimension, name, begins_at, source, requests desc);
create index if not exists rollup_values_86400s_value
  on assay.rollup_values_86400s (organization_id, begins_at, value);

-- None but where this migration was applied before by hand.
delete from assay.rollup_values where grain_seconds = 86400 and dimension in ('user_sum', 'property_sum');
create temporary table value_sums on commit drop as
  select organization_id, grain_seconds, begins_at, dimension || '_sum' as dimension, name, '' as value, false as is_other, source,
         sum(requests)::bigint as requests, sum(errors)::bigint as errors,
         sum(cost_nano_count)::bigint as cost_nano_count, sum(cost_nano_sum) as cost_nano_sum,
         sum(prompt_tokens_count)::bigint as prompt_tokens_count, sum(prompt_tokens_sum)::bigint as prompt_tokens_sum,
         sum(completion_tokens_count)::bigint as completion_tokens_count, sum(completion_tokens_sum)::bigint as completion_tokens_sum,
         sum(total_tokens_count)::bigint as total_tokens_count, sum(total_tokens_sum)::bigint as total_tokens_sum,
         min(first_at)::timestamptz(3) as first_at, max(last_at)::timestamptz(3) as last_at
    from assay.rollup_values where grain_seconds = 86400 and dimension in ('user', 'property')
   group by organization_id, grain_seconds, begins_at, dimension, name, source;

-- From here on readers wait, for milliseconds: all cells fit the new constraint, so they are not read to check it.
alter table assay.rollup_values
  drop constraint rollup_values_dimension_check,
  add constraint rollup_values_dimension_check
    check (dimension in ('user', 'property', 'user_sum', 'property_sum')) not valid;

-- A build without these sums replaces all cells of a day, and so removes them: a day that lacks them is read in full.
insert into assay.rollup_values
  (organization_id, grain_seconds, begins_at, dimension, name, value, is_other, source, requests, errors, cost_nano_count,
   cost_nano_sum, prompt_tokens_count, prompt_tokens_sum, completion_tokens_count, completion_tokens_sum, total_tokens_count,
   total_tokens_sum, first_at, last_at)
select organization_id, grain_seconds, begins_at, dimension, name, value, is_other, source, requests, errors, cost_nano_count,
       cost_nano_sum, prompt_tokens_count, prompt_tokens_sum, completion_tokens_count, completion_tokens_sum, total_tokens_count,
       total_tokens_sum, first_at, last_at
  from value_sums;
