-- Up Migration
-- The failed attempts of an evaluation, which stay when it is tried again. `claim` is that of the attempt.
create table assay.evaluation_attempts (
  evaluation_id   bigint not null references assay.evaluations on delete cascade,
  claim           integer not null,
  organization_id uuid not null,
  ended_at        timestamptz(3) not null,
  error_code      text not null,
  error_message   text,
  primary key (evaluation_id, claim)
);
alter table assay.evaluation_attempts enable row level security;
create policy own_organization on assay.evaluation_attempts to assay_api
  using (organization_id = nullif(current_setting('assay.organization', true), '')::uuid);
grant select, insert on assay.evaluation_attempts to assay_api;

alter table assay.evaluation_runs
  add column sample_size integer check (sample_size > 0), -- null: every request
  add column sample_seed bigint,
  add column sample_until bigint,           -- the highest point in the sample, of 2^48; null: not known yet
  add column max_cost_nano bigint check (max_cost_nano > 0), -- null: no limit
  add column spent_nano bigint not null default 0,        -- kept where there is a limit
  drop constraint evaluation_runs_state_check,
  add constraint evaluation_runs_state_check
    check (state in ('running', 'paused', 'cancelled', 'scheduled', 'budget'));
