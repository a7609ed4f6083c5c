-- Up Migration
-- What people grade responses by.
create table assay.criteria (
  criterion_id    uuid primary key,
  organization_id uuid not null references assay.organizations,
  name            text collate "C" not null,
  folded_name     text collate "C" not null, -- names ignore case
  description     text not null,
  kind            jsonb not null,            -- core/grades/kind.ts; fixed once there are grades
  evaluator_id    uuid,                      -- the evaluator whose verdicts are held against these grades
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null,
  archived_at     timestamptz(3)
);
create unique index on assay.criteria (organization_id, folded_name) where archived_at is null;
create unique index on assay.criteria (organization_id, evaluator_id) where archived_at is null;

-- One grade for each request, criterion and person.
create table assay.grades (
  grade_id        bigint generated always as identity primary key,
  organization_id uuid not null,
  request_id      text collate "C" not null,
  created_at      timestamptz(3) not null,   -- of the request: the grade is kept as long
  criterion_id    uuid not null references assay.criteria,
  person          text collate "C" not null, -- `author <name>`, or `key <id>` where there is no author
  key_id          uuid not null,             -- the API key that sent the grade
  author          text collate "C",
  value           double precision not null, -- core/grades/kind.ts
  comment         text,
  graded_at       timestamptz(3) not null
);
create unique index on assay.grades (organization_id, request_id, criterion_id, person);
create index on assay.grades (organization_id, criterion_id, grade_id);
create index on assay.grades (organization_id, grade_id);
create index on assay.grades (created_at);

-- Former values of grades that were replaced or taken back; bounded for each grade.
create table assay.grade_history (
  history_id      bigint generated always as identity primary key,
  organization_id uuid not null,
  request_id      text collate "C" not null,
  created_at      timestamptz(3) not null,   -- of the request
  criterion_id    uuid not null references assay.criteria,
  person          text collate "C" not null,
  value           double precision not null,
  graded_at       timestamptz(3) not null,
  ended_at        timestamptz(3) not null
);
create index on assay.grade_history (organization_id, request_id, criterion_id, person, history_id);
create index on assay.grade_history (organization_id, criterion_id);
create index on assay.grade_history (created_at);

-- Requests that wait for people's grades.
create table assay.review_queues (
  queue_id        uuid primary key,
  organization_id uuid not null references assay.organizations,
  name            text collate "C" not null,
  folded_name     text collate "C" not null,
  criterion_ids   uuid[] not null,
  source          jsonb not null,            -- where its items came from: core/contracts/review.ts
  per_item        integer not null,          -- people who grade each item
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null,
  archived_at     timestamptz(3)
);
create unique index on assay.review_queues (organization_id, folded_name) where archived_at is null;

-- Who works on an item is in its row, so that the lock of the row decides between two people at once.
create table assay.review_items (
  queue_id        uuid not null references assay.review_queues,
  position        integer not null,
  organization_id uuid not null,
  created_at      timestamptz(3) not null,   -- of the request
  request_id      text collate "C" not null,
  claimed_by      text[] not null default '{}',        -- persons, as in grades
  claimed_until   timestamptz(3)[] not null default '{}', -- of each
  primary key (queue_id, position)
);
create unique index on assay.review_items (queue_id, request_id);
create index on assay.review_items (organization_id, request_id);
create index on assay.review_items (created_at);

create table assay.review_skips (
  queue_id        uuid not null,
  request_id      text collate "C" not null,
  person          text collate "C" not null,
  organization_id uuid not null,
  key_id          uuid not null,
  author          text collate "C",
  reason          text,
  skipped_at      timestamptz(3) not null,
  primary key (queue_id, request_id, person),
  foreign key (queue_id, request_id) references assay.review_items (queue_id, request_id) on delete cascade
);

grant select, insert, update (name, folded_name, description, kind, evaluator_id, updated_at, archived_at)
  on assay.criteria to assay_api;
grant select, insert, update (key_id, value, comment, graded_at), delete on assay.grades to assay_api;
grant select, insert, delete on assay.grade_history to assay_api;
grant select, insert, update (name, folded_name, updated_at, archived_at) on assay.review_queues to assay_api;
grant select, insert, update (claimed_by, claimed_until) on assay.review_items to assay_api;
grant select, insert, update (key_id, reason, skipped_at) on assay.review_skips to assay_api;

do $$
declare
  name text;
begin
  foreach name in array array['criteria', 'grades', 'grade_history', 'review_queues', 'review_items', 'review_skips'] loop
    execute format('alter table assay.%I enable row level security', name);
    execute format('create policy own_organization on assay.%I to assay_api
      using (organization_id = nullif(current_setting(''assay.organization'', true), '''')::uuid)', name);
  end loop;
end $$;
