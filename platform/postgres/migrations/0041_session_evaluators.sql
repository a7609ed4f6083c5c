-- Up Migration
-- What an evaluator scores: each request, or each whole session, at its newest request.
alter table assay.evaluators add column scope text not null default 'request' check (scope in ('request', 'session'));
-- The session that is evaluated up to `request_id`; null: the request is evaluated by itself.
alter table assay.evaluations add column session_id text collate "C";
create index evaluations_of_sessions on assay.evaluations (organization_id, session_id, evaluator_id) where session_id is not null;
-- How long a session must be silent until it is evaluated. Only evaluators of sessions read it.
alter table assay.online_evaluators add column idle_seconds integer not null default 900 check (idle_seconds > 0);
grant update (idle_seconds) on assay.online_evaluators to assay_api;
