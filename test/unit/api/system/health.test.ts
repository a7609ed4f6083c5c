import t from 'tap';
import type { OutboxState } from '#core/contracts/process-state.ts';
import { type HealthFacts, healthReasons } from '../../../../api/system/health.ts';

const outbox: OutboxState = { records: 0, bytes: 0, oldest_ms: 0, fill: 0, is_refusing: false };
const gateway = { outbox, breakers: [], is_limiting_alone: false };
const well: HealthFacts = {
  roles: ['api', 'gateway', 'ingest'],
  outboxes: [outbox],
  failingFor: new Set(),
  gateways: [gateway],
  breakers: [],
  sinks: [{ name: 'rollups', state: 'running', lag_ms: 900, changes: 1 }],
  deadLetters: { own: 0, others: null },
  paused: [],
  hasEvaluators: false,
};
const reasonsOf = (facts: Partial<HealthFacts>) => healthReasons({ ...well, ...facts });
const namesOf = (facts: Partial<HealthFacts>) => reasonsOf(facts).map(({ reason }) => reason);

t.test('an installation whose parts all work has no reason to be degraded', async (t) => {
  t.same(reasonsOf({}), []);
});

t.test('evaluators are missed only by an organization that has evaluators', async (t) => {
  t.same(namesOf({ hasEvaluators: true }), ['role_missing']);
  t.same(namesOf({ hasEvaluators: true, roles: ['gateway', 'ingest', 'evaluators'] }), []);
  t.same(namesOf({ roles: ['api'] }), ['role_missing', 'role_missing']);
});

t.test('entries that wait longer than half a minute are a reason, with their number and age', async (t) => {
  const waiting = (oldest_ms: number) => ({ ...outbox, records: 7, oldest_ms });
  t.same(namesOf({ outboxes: [waiting(30_000)] }), []);
  const [reason] = reasonsOf({ outboxes: [outbox, waiting(30_001), waiting(90_000)] });
  t.match(reason, { reason: 'storing_behind', message: /^14 log entries .* 90 s$/ });
});

t.test(
  'an outbox that is half full is a reason, and one that refuses entries another in its place',
  async (t) => {
    t.same(namesOf({ outboxes: [{ ...outbox, fill: 0.49 }] }), []);
    t.match(reasonsOf({ outboxes: [outbox, { ...outbox, fill: 0.5 }] }), [
      { reason: 'outbox_filling', message: /50 % full/ },
    ]);
    t.same(namesOf({ outboxes: [{ ...outbox, fill: 1, is_refusing: true }] }), ['requests_not_logged']);
  },
);

t.test('an outbox whose files fail is a reason, with the roles whose logs name it', async (t) => {
  const [reason, ...others] = reasonsOf({ failingFor: new Set(['gateway', 'ingest']) });
  t.match(reason, { reason: 'outbox_failing', message: /the log of gateway and ingest names it$/ });
  t.same(others, []);
});

t.test(
  'failing providers, lone limiters, late sinks, dead letters and paused evaluators are named',
  async (t) => {
    t.match(reasonsOf({ breakers: [{ provider: 'openai', state: 'open', gateways: 1 }] }), [
      { reason: 'provider_failing', message: /openai .* open in 1 of 1/ },
    ]);
    t.same(namesOf({ gateways: [gateway, { ...gateway, is_limiting_alone: true }] }), ['limits_away']);
    const sink = (lag_ms: number, state: 'running' | 'behind' = 'running') => [
      { name: 'webhooks', state, lag_ms, changes: 1 },
    ];
    t.same(namesOf({ sinks: sink(60_000) }), []);
    t.same(namesOf({ sinks: sink(0, 'behind') }), ['sink_behind']);
    t.match(reasonsOf({ sinks: sink(61_000) }), [{ reason: 'sink_behind', message: /webhooks is 61 s/ }]);
    t.match(reasonsOf({ deadLetters: { own: 2, others: 3 } }), [{ reason: 'dead_letters', message: /^5 / }]);
    t.match(reasonsOf({ deadLetters: { own: 10_000, others: null } }), [{ message: /^10000 or more/ }]);
    t.match(reasonsOf({ paused: [{ id: 'e', name: 'Polite', reason: 'billing' }] }), [
      { reason: 'evaluator_paused', message: /Polite is paused: billing/ },
    ]);
  },
);
