/** `GET /v1/system`: state of the installation, as far as a key may see it. */

import { Compile } from '#core/contracts/check.ts';
import { ApiState, GatewayState, IngestState, type OutboxState } from '#core/contracts/process-state.ts';
import type { SystemJson } from '#core/contracts/system.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import { VERSION } from '#platform/process/version.ts';
import type { ProcessRow } from '#platform/processes/mod.ts';
import { healthReasons } from './health.ts';
import { readSystem, type SystemRows } from './read.ts';

export type SystemService = { get(organizationId: string): Promise<SystemJson> };

/** @param options.sql of the role `assay_api` */
export function createSystemService({ sql }: { sql: Sql }): SystemService {
  return {
    get: async (organizationId) =>
      systemJson(await inOrganization(sql, organizationId, (tx) => readSystem(tx, organizationId))),
  };
}

/** A process of another version may report another shape, which is left out. */
const gatewayState = Compile(GatewayState);
const apiState = Compile(ApiState);
const ingestState = Compile(IngestState);

function gatewayOf({ role, state }: ProcessRow): GatewayState[] {
  return role === 'gateway' && gatewayState.Check(state) ? [state] : [];
}

function outboxOf({ role, state }: ProcessRow): OutboxState | null {
  if (role === 'gateway' && gatewayState.Check(state)) return state.outbox;
  return role === 'api' && apiState.Check(state) ? state.outbox : null;
}

function hasFailingOutboxes({ role, state }: ProcessRow): boolean {
  const isKnown =
    (role === 'gateway' && gatewayState.Check(state)) ||
    (role === 'api' && apiState.Check(state)) ||
    (role === 'ingest' && ingestState.Check(state));
  return isKnown && (state.failing_outboxes ?? 0) > 0;
}

function systemJson(rows: SystemRows): SystemJson {
  const { now, processes, paused, deadLetters, newestStoredAt } = rows;
  const sinks = rows.sinks.map(({ name, state, lagMs, changes }) => ({
    name,
    state,
    lag_ms: Math.round(lagMs),
    changes,
  }));
  const outboxes = processes.flatMap((row) => outboxOf(row) ?? []);
  const gateways = processes.flatMap(gatewayOf);
  const breakers = breakersOf(gateways);
  const roles = processes.map(({ role }) => role);
  const failingFor = new Set(processes.filter(hasFailingOutboxes).map(({ role }) => role));
  const reasons = healthReasons({ ...rows, sinks, roles, outboxes, failingFor, gateways, breakers });
  return {
    health: reasons.length === 0 ? 'ok' : 'degraded',
    reasons,
    as_of: now.toISOString(),
    version: VERSION,
    processes: processes.map(processJson),
    ingest: {
      lag_ms: outboxes.length === 0 ? null : Math.max(...outboxes.map(({ oldest_ms }) => oldest_ms)),
      newest_stored_ms:
        newestStoredAt === null ? null : Math.max(0, now.getTime() - newestStoredAt.getTime()),
    },
    breakers,
    sinks,
    dead_letters: deadLetters,
    paused_evaluators: paused,
  };
}

function processJson(row: ProcessRow): SystemJson['processes'][number] {
  const outbox = outboxOf(row);
  return {
    id: row.processId,
    role: row.role,
    version: row.version,
    started_at: row.startedAt.toISOString(),
    reported_at: row.at.toISOString(),
    outbox: outbox === null ? null : outboxJson(outbox),
  };
}

function outboxJson({ records, bytes, oldest_ms, fill }: OutboxState) {
  return { records, bytes, oldest_ms, fill };
}

/** Returns the providers that fail in some gateway, each with its worst state. */
function breakersOf(gateways: readonly GatewayState[]): SystemJson['breakers'] {
  const tripped = gateways.flatMap(({ breakers }) => breakers);
  return [...Map.groupBy(tripped, ({ provider }) => provider)]
    .map(([provider, states]) => ({
      provider,
      state: states.some(({ state }) => state === 'open') ? ('open' as const) : ('half-open' as const),
      gateways: states.length,
    }))
    .sort((a, b) => (a.provider < b.provider ? -1 : 1));
}
