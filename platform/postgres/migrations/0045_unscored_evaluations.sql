-- Up Migration
-- The evaluations that ended without a score, by state: without these, a list of the few that failed, and a retry of them, read all
-- evaluations. Only failures pay for them. Calls are answered while they are made; evaluations, and records that evaluators score as
-- they come, wait until then.
create index evaluations_unscored on assay.evaluations (organization_id, state, scheduled_at desc, evaluation_id desc)
  where state in ('skipped', 'error', 'dead', 'cancelled');
create index evaluations_unscored_of_evaluator on assay.evaluations (evaluator_id, state, scheduled_at desc, evaluation_id desc)
  where state in ('skipped', 'error', 'dead', 'cancelled');
