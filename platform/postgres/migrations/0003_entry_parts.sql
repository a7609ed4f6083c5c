-- Up Migration
-- Parts of entries that are larger than a message of the broker may be, until all of them are there.
create table assay.entry_parts (
  origin     text collate "C" not null, -- the entry's place in its outbox, which names it
  cut_bytes  integer not null,          -- the length of every part but the last: parts of different cuts do not fit
  part       integer not null,
  bytes      bytea not null,
  created_at timestamptz not null default now(),
  primary key (origin, cut_bytes, part)
);
