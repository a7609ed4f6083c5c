-- Up Migration
-- Roll-ups: sums of requests by bucket of time, always recomputed from the rows (or from finer roll-ups), never incremented.
-- A bucket without a row in assay.rollup_stale equals its rows; a stale one must not be read. See docs/decisions/0038-rollups.md.

-- Cost that an answer from the cache saved. Null: not from the cache, without a known price, or older than this column: an
-- update of all cached answers would hold up an upgrade, and every reader of the table, for minutes.
alter table assay.requests add column cost_saved_nano bigint;

-- Sums of all requests of a bucket. Each level has some of the dimensions, the others are null: see core/rollups/families.ts.
-- Counts and sums are null instead of 0. There is no unique key, because paths and names may be longer than an index can
-- hold: a bucket is recomputed by one process at a time, which replaces all of its rows.
create table assay.rollup_totals (
  organization_id               uuid not null,
  grain_seconds                 integer not null,
  level                         text not null, -- source | model | status | api_key | prompt | path
  begins_at                     timestamptz(3) not null,
  source                        text not null,
  provider                      text collate "C",
  model                         text collate "C",
  status                        integer,
  api_key_id                    uuid,
  prompt_id                     text collate "C",
  prompt_version                text collate "C",
  path                          text collate "C",
  requests                      bigint not null,
  errors                        bigint, -- with a status from 400 on
  cache_hits                    bigint,
  cost_nano_count               bigint,
  cost_nano_sum                 numeric,
  cost_nano_min                 bigint,
  cost_nano_max                 bigint,
  cost_saved_nano_count         bigint,
  cost_saved_nano_sum           numeric,
  cost_saved_nano_min           bigint,
  cost_saved_nano_max           bigint,
  prompt_tokens_count           bigint,
  prompt_tokens_sum             bigint,
  prompt_tokens_min             bigint,
  prompt_tokens_max             bigint,
  completion_tokens_count       bigint,
  completion_tokens_sum         bigint,
  completion_tokens_min         bigint,
  completion_tokens_max         bigint,
  total_tokens_count            bigint,
  total_tokens_sum              bigint,
  total_tokens_min              bigint,
  total_tokens_max              bigint,
  latency_ms_count              bigint,
  latency_ms_sum                bigint,
  latency_ms_min                bigint,
  latency_ms_max                bigint,
  ttft_ms_count                 bigint,
  ttft_ms_sum                   bigint,
  ttft_ms_min                   bigint,
  ttft_ms_max                   bigint,
  milli_tokens_per_second_count bigint, -- of assay.milli_tokens_per_second
  milli_tokens_per_second_sum   numeric,
  milli_tokens_per_second_min   bigint,
  milli_tokens_per_second_max   bigint
) partition by list (grain_seconds);
create index on assay.rollup_totals (organization_id, grain_seconds, level, begins_at);

-- Histograms of some numbers, at the levels source and model: how many requests have a value in each bin of
-- assay.histogram_bin. `bins` ascends; `counts` is parallel to it.
create table assay.rollup_histograms (
  organization_id uuid not null,
  grain_seconds   integer not null,
  level           text not null,
  begins_at       timestamptz(3) not null,
  metric          text not null, -- latency_ms | ttft_ms | milli_tokens_per_second
  source          text not null,
  provider        text collate "C",
  model           text collate "C",
  bins            smallint[] not null,
  counts          integer[] not null
) partition by list (grain_seconds);
create index on assay.rollup_histograms (organization_id, grain_seconds, level, begins_at, metric);

-- Sums by user and by property. Of a property only the commonest values of a bucket have rows of their own. `is_other`: all
-- others together, and those that are too long; a range without such a row is complete. Goes with its week of requests.
create table assay.rollup_values (
  organization_id         uuid not null,
  grain_seconds           integer not null,
  begins_at               timestamptz(3) not null,
  dimension               text not null check (dimension in ('user', 'property')),
  name                    text collate "C" not null, -- of the property, in lower case; '' for users
  value                   text collate "C" not null, -- '' for others
  is_other                boolean not null,
  source                  text not null,
  requests                bigint not null,
  errors                  bigint,
  cost_nano_count         bigint,
  cost_nano_sum           numeric,
  prompt_tokens_count     bigint,
  prompt_tokens_sum       bigint,
  completion_tokens_count bigint,
  completion_tokens_sum   bigint,
  total_tokens_count      bigint,
  total_tokens_sum        bigint,
  first_at                timestamptz(3) not null, -- created_at of the oldest and of the newest request
  last_at                 timestamptz(3) not null
) partition by list (grain_seconds);
create index on assay.rollup_values (organization_id, grain_seconds, begins_at, dimension, name);
-- Finds buckets in which values of a property were merged as others.
create index on assay.rollup_values (organization_id, grain_seconds, name, begins_at) where is_other;

-- Scores by key, and feedback as 1 and 0. By the time of the request, not of the score.
create table assay.rollup_scores (
  organization_id uuid not null,
  grain_seconds   integer not null,
  level           text not null, -- source | model | prompt
  begins_at       timestamptz(3) not null,
  metric          text not null check (metric in ('score', 'feedback')),
  key             text collate "C" not null, -- '' for feedback
  evaluator_id    uuid,
  source          text not null,
  provider        text collate "C",
  model           text collate "C",
  prompt_id       text collate "C",
  prompt_version  text collate "C",
  value_count     bigint not null,
  value_sum       numeric not null, -- exact: sums of double precision would depend on their order
  value_min       double precision not null,
  value_max       double precision not null
) partition by list (grain_seconds);
create index on assay.rollup_scores (organization_id, grain_seconds, level, begins_at);

-- One partition a grain: fine ones are replaced and dropped all the time, coarse ones stay. Those that are dropped by age
-- have an index for it.
do $$
declare
  part record;
begin
  for part in
    select 'rollup_' || family as parent, grain, is_dropped
      from (values ('totals', 10, true), ('totals', 60, true), ('totals', 1800, false), ('totals', 10800, false),
                   ('totals', 86400, false),
                   ('histograms', 10, true), ('histograms', 60, true), ('histograms', 1800, false),
                   ('histograms', 10800, false), ('histograms', 86400, false),
                   ('values', 60, true), ('values', 1800, true), ('values', 86400, true),
                   ('scores', 60, true), ('scores', 1800, false), ('scores', 86400, false)) as parts (family, grain, is_dropped)
  loop
    execute format('create table assay.%I partition of assay.%I for values in (%s)',
      part.parent || '_' || part.grain || 's', part.parent, part.grain);
    if part.is_dropped then execute format('create index on assay.%I (begins_at)', part.parent || '_' || part.grain || 's'); end if;
  end loop;
end $$;

-- Buckets whose requests have changed since they were recomputed.
create sequence assay.rollup_marks;
create table assay.rollup_stale (
  organization_id uuid not null,
  family          text not null check (family in ('totals', 'values', 'scores')),
  grain_seconds   integer not null,
  begins_at       timestamptz(3) not null,
  mark            bigint not null default nextval('assay.rollup_marks'), -- another one at each change
  first_marked_at timestamptz(3) not null default now(),
  marked_at       timestamptz(3) not null default now(),
  postponed_until timestamptz(3), -- its recomputation failed, and is tried again then
  primary key (organization_id, family, grain_seconds, begins_at)
) with (
  -- Rows live for seconds; updates change no key, so they stay within their page.
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000
);
create index on assay.rollup_stale (family, grain_seconds, first_marked_at);

grant select on assay.rollup_totals, assay.rollup_histograms, assay.rollup_values, assay.rollup_scores, assay.rollup_stale
  to assay_api;
do $$
declare
  name text;
begin
  foreach name in array array['rollup_totals', 'rollup_histograms', 'rollup_values', 'rollup_scores', 'rollup_stale'] loop
    execute format('alter table assay.%I enable row level security', name);
    execute format('create policy own_organization on assay.%I to assay_api
      using (organization_id = nullif(current_setting(''assay.organization'', true), '''')::uuid)', name);
  end loop;
end $$;
