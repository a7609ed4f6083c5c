-- Up Migration
-- Indexes for what an erasure cannot subtract from the totals of a session: whether another request has an erased name, and when
-- last, and whether the cost of one is known although the sum is zero. Without them it reads the whole session, under a lock
-- that ingest waits for. Only requests with names, and those of sessions that cost nothing, pay for them. Calls are answered
-- while they are made; their records wait in the log stream until then.
create index requests_named_in_session on assay.requests (organization_id, session_id, session_name collate "C", created_at)
  where session_id is not null and session_name is not null;
create index requests_free_in_session on assay.requests (organization_id, session_id, created_at)
  where session_id is not null and cost_nano <= 0;
