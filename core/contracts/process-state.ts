/** State that each process reports every ten seconds, by role: written by the process, read by the API. It holds no secrets. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

const Count = Type.Integer({ minimum: 0 });

/** The outbox of one process. */
export const OutboxState = Type.Object(
  {
    /** Entries that are not known to be stored, their size, and the age of the oldest; 0 without one. */
    records: Count,
    bytes: Count,
    oldest_ms: Count,
    /** Bytes of all outboxes in its DATA_DIR, as a share of OUTBOX_MAX_BYTES; at 1 nothing more is logged. */
    fill: Type.Number({ minimum: 0 }),
    /** True when entries were refused since the report before, or the last entry was, and nothing tells that the next will not be. */
    is_refusing: Type.Boolean(),
  },
  closed,
);
export type OutboxState = Static<typeof OutboxState>;

/** Outboxes of its machine whose files failed when the process last tried them. Earlier versions do not tell. */
const failing_outboxes = Type.Optional(Count);

/** States of a circuit breaker that is not closed. */
const TRIPPED = ['open', 'half-open'] as const;
export type TrippedState = (typeof TRIPPED)[number];

export const GatewayState = Type.Object(
  {
    outbox: OutboxState,
    /** Providers of which an address is failing, by name. */
    breakers: Type.Array(
      Type.Object({ provider: Type.String(), state: OneOf<TrippedState>(TRIPPED) }, closed),
    ),
    /** True while it limits calls by itself, because the store of counters is away. */
    is_limiting_alone: Type.Boolean(),
    failing_outboxes,
  },
  closed,
);
export type GatewayState = Static<typeof GatewayState>;

export const ApiState = Type.Object({ outbox: OutboxState, failing_outboxes }, closed);
type ApiState = Static<typeof ApiState>;

export const IngestState = Type.Object(
  {
    /** Null: nothing since its start. */
    last_stored_at: Nullable(Timestamp),
    failing_outboxes,
  },
  closed,
);
export type IngestState = Static<typeof IngestState>;

/** The states by role. */
export type ProcessStates = {
  gateway: GatewayState;
  api: ApiState;
  ingest: IngestState;
  /** `held`: evaluations that it has claimed. */
  evaluators: { held: number };
};
