/** The health of the installation in one word, with the reasons. Pure. */
import type { GatewayState, OutboxState } from '#core/contracts/process-state.ts';
import { MOST_DEAD_LETTERS, type ProcessRole, type SystemJson } from '#core/contracts/system.ts';
import type { SystemRows } from './read.ts';

type Sink = SystemJson['sinks'][number];
type Reason = SystemJson['reasons'][number];

/** Facts that decide the health. States in the shape of another version are left out. */
export type HealthFacts = Pick<SystemRows, 'deadLetters' | 'paused' | 'hasEvaluators'> & {
  sinks: readonly Sink[];
  roles: readonly ProcessRole[];
  outboxes: readonly OutboxState[];
  /** Roles with a process that meets outboxes whose files fail. */
  failingFor: ReadonlySet<ProcessRole>;
  gateways: readonly GatewayState[];
  breakers: SystemJson['breakers'];
};

/** Entries are stored within 100 ms; half a minute outlasts a restart of ingest or of Postgres. */
const STORING_BEHIND_MS = 30_000;
/** Half of the limit: at the same rate, calls are logged for as long again as it took to get there. */
const FILLING = 0.5;
/** A sink applies changes within seconds. */
const SINK_BEHIND_MS = 60_000;

/** Returns the reasons for which the installation is degraded, the gravest first; none when it is healthy. */
export function healthReasons(facts: HealthFacts): Reason[] {
  return [
    ...missingRoles(facts),
    ...outboxReasons(facts.outboxes),
    ...failingReasons(facts.failingFor),
    ...facts.breakers.map(({ provider, state, gateways }) => ({
      reason: 'provider_failing' as const,
      message: `Calls to ${provider} fail: the circuit is ${state} in ${gateways} of ${facts.gateways.length} gateways`,
    })),
    ...limitReasons(facts.gateways),
    ...facts.sinks.flatMap(sinkReason),
    ...letterReasons(facts.deadLetters),
    ...facts.paused.map(({ name, reason }) => ({
      reason: 'evaluator_paused' as const,
      message: `The evaluator ${name} is paused: ${reason}`,
    })),
  ];
}

function missingRoles({ roles, hasEvaluators }: HealthFacts): Reason[] {
  const needed: ProcessRole[] = ['gateway', 'ingest', ...(hasEvaluators ? ['evaluators' as const] : [])];
  return needed
    .filter((role) => !roles.includes(role))
    .map((role) => ({
      reason: 'role_missing',
      message: `No process of the role ${role} has reported for half a minute: none runs, or none reaches Postgres`,
    }));
}

function outboxReasons(outboxes: readonly OutboxState[]): Reason[] {
  const most = (of: (outbox: OutboxState) => number) => Math.max(0, ...outboxes.map(of));
  const records = outboxes.reduce((sum, outbox) => sum + outbox.records, 0);
  const oldestMs = most(({ oldest_ms }) => oldest_ms);
  const fill = most((outbox) => outbox.fill);
  const reasons: Reason[] = [];
  if (oldestMs > STORING_BEHIND_MS) {
    reasons.push({
      reason: 'storing_behind',
      message: `${records} log entries wait to be stored, the oldest for ${Math.round(oldestMs / 1_000)} s`,
    });
  }
  if (outboxes.some(({ is_refusing }) => is_refusing)) {
    reasons.push({
      reason: 'requests_not_logged',
      message:
        'An outbox takes no entries: it is full, or its disk is full or failing. Requests are served, and not logged',
    });
  } else if (fill >= FILLING) {
    reasons.push({
      reason: 'outbox_filling',
      message: `An outbox is ${Math.round(100 * fill)} % full; when it is full, requests are served and not logged`,
    });
  }
  return reasons;
}

function failingReasons(roles: HealthFacts['failingFor']): Reason[] {
  if (roles.size === 0) return [];
  const message = `The files of an outbox cannot be read, trimmed or removed, and its entries wait; the log of ${[...roles].join(' and ')} names it`;
  return [{ reason: 'outbox_failing', message }];
}

function limitReasons(gateways: readonly GatewayState[]): Reason[] {
  const alone = gateways.filter(({ is_limiting_alone }) => is_limiting_alone).length;
  if (alone === 0) return [];
  const message = `${alone} of ${gateways.length} gateways do not reach the counters of rate limits, and limit by themselves`;
  return [{ reason: 'limits_away', message }];
}

function sinkReason({ name, lag_ms, state }: Sink): Reason[] {
  if (lag_ms <= SINK_BEHIND_MS && state !== 'behind') return [];
  const message = `The sink ${name} is ${Math.round(lag_ms / 1_000)} s behind (state: ${state})`;
  return [{ reason: 'sink_behind', message }];
}

function letterReasons({ own, others }: HealthFacts['deadLetters']): Reason[] {
  const count = own + (others ?? 0);
  if (count === 0) return [];
  const shown = count >= MOST_DEAD_LETTERS ? `${MOST_DEAD_LETTERS} or more` : count;
  return [
    {
      reason: 'dead_letters',
      message: `${shown} log entries could not be stored, and are kept as dead letters`,
    },
  ];
}
