-- Up Migration
-- What each running gateway and evaluators process can do, written by itself: the API refuses judges that no gateway can
-- call, and says why Python waits, without being given their configuration. Nothing of it is secret.
create table assay.announcements (
  process_id uuid primary key,
  role       text not null,         -- gateway | evaluators
  facts      jsonb not null,        -- see core/announcements
  seen_at    timestamptz(3) not null -- renewed while the process lives
);
create index on assay.announcements (role, seen_at);

grant select on assay.announcements to assay_api;
