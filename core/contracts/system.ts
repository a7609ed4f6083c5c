/** The reply of `GET /v1/system`. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

const Count = (description: string) => Type.Integer({ minimum: 0, description });
const Milliseconds = (description: string) =>
  Nullable(Type.Integer({ minimum: 0 }), `${description}, in milliseconds`);

export const PROCESS_ROLES = ['gateway', 'api', 'ingest', 'evaluators'] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];

/** The reasons for which an installation is degraded. docs/api/management.md explains each. */
export const HEALTH_REASONS = [
  'role_missing',
  'storing_behind',
  'outbox_filling',
  'outbox_failing',
  'requests_not_logged',
  'provider_failing',
  'limits_away',
  'sink_behind',
  'dead_letters',
  'evaluator_paused',
] as const;
export type HealthReason = (typeof HEALTH_REASONS)[number];

/** Dead letters are counted up to this number. */
export const MOST_DEAD_LETTERS = 10_000;
/** Paused evaluators that are listed. */
export const MOST_PAUSED = 100;

const BREAKER_STATES = ['open', 'half-open'] as const;

const SystemProcess = Type.Object(
  {
    id: Type.String({ description: 'Id of the process, a new one at each start' }),
    role: OneOf<ProcessRole>(PROCESS_ROLES),
    version: Type.String(),
    started_at: Timestamp,
    reported_at: Timestamp,
    outbox: Nullable(
      Type.Object(
        {
          records: Count('Entries that are not known to be stored'),
          bytes: Count('Their size'),
          oldest_ms: Count('Age of the oldest of them; 0 without one'),
          fill: Type.Number({
            minimum: 0,
            description: 'Share of OUTBOX_MAX_BYTES in use on its machine; at 1 nothing more is logged',
          }),
        },
        closed,
      ),
      'As of its last report; null for roles that have none',
    ),
  },
  closed,
);

/** `new`: it has not started yet. `behind`: the feed dropped changes that it had not applied, so it resumes by a scan. */
const SINK_STATES = ['new', 'running', 'behind'] as const;

const SystemSink = Type.Object(
  {
    name: Type.String(),
    state: OneOf(SINK_STATES),
    lag_ms: Count('Age of the oldest change that it has not applied, in milliseconds; 0 without one'),
    changes: Count('Changes that it has not applied, counted up to 10,000'),
  },
  closed,
);

export const SystemJson = Type.Object(
  {
    health: OneOf(['ok', 'degraded'] as const),
    reasons: Type.Array(
      Type.Object(
        {
          reason: OneOf<HealthReason>(HEALTH_REASONS),
          message: Type.String({ description: 'One sentence with the figures' }),
        },
        closed,
      ),
      { description: 'Why the health is degraded; empty when it is ok' },
    ),
    as_of: Timestamp,
    version: Type.String({ description: 'Of the process that answers' }),
    processes: Type.Array(SystemProcess, {
      description: 'Those that reported within 35 seconds, by role, the newest first',
    }),
    ingest: Type.Object(
      {
        lag_ms: Milliseconds(
          'Age of the oldest entry that waits to be stored in an outbox of a listed process; 0 without one; null: none is listed',
        ),
        newest_stored_ms: Milliseconds("Age of the newest stored request of the key's organization"),
      },
      closed,
    ),
    breakers: Type.Array(
      Type.Object(
        {
          provider: Type.String(),
          state: OneOf(BREAKER_STATES),
          gateways: Count('Gateways in which the circuit is open or half-open'),
        },
        closed,
      ),
      { description: 'Providers of which an address is failing; the circuits of all others are closed' },
    ),
    sinks: Type.Array(SystemSink, { description: 'Sinks of the change feed, by name' }),
    dead_letters: Type.Object(
      {
        own: Count(`Of the key's organization, counted up to ${MOST_DEAD_LETTERS}`),
        others: Nullable(
          Type.Integer(),
          'Letters of no known organization; null where there are other organizations',
        ),
      },
      closed,
    ),
    paused_evaluators: Type.Array(
      Type.Object({ id: Type.String(), name: Type.String(), reason: Type.String() }, closed),
      { description: `Of the key's organization, by name; at most ${MOST_PAUSED}` },
    ),
  },
  { ...closed, $id: 'System' },
);
export type SystemJson = Static<typeof SystemJson>;
