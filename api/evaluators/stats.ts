/** Statistics of one version of an evaluator: its scores, its cost, and how far it can be trusted. */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { AssayError } from '#core/contracts/errors.ts';
import { closed, Nullable } from '#core/contracts/shapes.ts';
import { EVALUATION_STATES, PROBES } from '#core/scoring/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { nanoToUsd } from '../requests/mod.ts';
import { AgreementJson, agreementJson, ProbeJson, probeJson } from './agreement.ts';
import { findBasis } from './basis.ts';
import type { Context } from './context.ts';
import { Bucket, bucketsOf, type Version } from './distribution.ts';
import type { EvaluatorRow } from './evaluator-json.ts';
import { JuryStatsJson, juryStats } from './jury-stats.ts';
import { requireEvaluator } from './rules.ts';
import {
  countAgreement,
  countBuckets,
  type DayRow,
  findVersion,
  judgeLatency,
  listDays,
  sumOutcomes,
  sumProbes,
  sumScores,
} from './stats-statements.ts';
import { passThreshold } from './threshold.ts';

const counts = Type.Record(Type.String(), Type.Integer());
const byName = <Name extends string, T extends TSchema>(names: readonly Name[], type: T) =>
  Type.Unsafe<Record<Name, Static<T>>>(
    Type.Object(Object.fromEntries(names.map((name) => [name, type])), closed),
  );

export const StatsJson = Type.Object(
  {
    evaluator_id: Type.String(),
    version: Type.Integer(),
    evaluations: Type.Object(
      {
        total: Type.Integer(),
        by_state: byName(EVALUATION_STATES, Type.Integer()),
        errors: counts,
        skips: counts,
      },
      { ...closed, description: 'Without probes' },
    ),
    scores: Type.Object(
      {
        count: Type.Integer(),
        mean: Nullable(Type.Number()),
        standard_deviation: Nullable(Type.Number(), 'Of a sample: null of less than two'),
        min: Nullable(Type.Number()),
        max: Nullable(Type.Number()),
        distribution: Type.Array(Bucket),
      },
      closed,
    ),
    daily: Type.Array(
      Type.Object({ day: Type.String(), count: Type.Integer(), mean: Nullable(Type.Number()) }, closed),
      { description: 'The last 30 days, by when the requests were made (UTC); the oldest first' },
    ),
    judge: Type.Object(
      {
        calls: Type.Integer(),
        prompt_tokens: Type.Integer(),
        completion_tokens: Type.Integer(),
        cost: Nullable(Type.Number(), 'USD, over the calls with a known price; null: no call has one'),
        latency_ms: Type.Object(
          { total: Type.Number(), p50: Nullable(Type.Number()), p95: Nullable(Type.Number()) },
          { ...closed, description: 'Of all calls of an evaluation together' },
        ),
      },
      closed,
    ),
    agreement: AgreementJson,
    probes: byName(PROBES, ProbeJson),
    jury: Nullable(JuryStatsJson, 'How far the members of its jury agree; null: it has none'),
  },
  { ...closed, $id: 'EvaluatorStats' },
);
export type StatsJson = Static<typeof StatsJson>;

const DAYS = 30;
const DAY_MS = 86_400_000;

/** The parameters of a call for statistics, as texts. */
export const StatsQuery = Type.Object(
  {
    version: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,8}$',
        rule: 'must be a whole number from 1',
        description: 'Default: the current one',
      }),
    ),
    threshold: Type.Optional(
      Type.String({
        pattern: '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$',
        rule: 'must be a number',
        description:
          'Scores from here on count as good. Default: the threshold of the version, else the middle of what the evaluator can say',
      }),
    ),
  },
  { ...closed, nameRule: 'is not a known parameter: use version or threshold' },
);
export type StatsQuery = Static<typeof StatsQuery>;

/** Null: the parameter was not given. */
type Wanted = { version: number | null; threshold: number | null };

/** @throws AssayError invalid_body */
function wantedBy({ version, threshold }: StatsQuery): Wanted {
  if (threshold !== undefined && !Number.isFinite(Number(threshold))) {
    throw new AssayError('invalid_body', 'threshold must be a finite number, but is larger than any');
  }
  return {
    version: version === undefined ? null : Number(version),
    threshold: threshold === undefined ? null : Number(threshold),
  };
}

/** Returns the days up to today, including those without scores. */
function dailySeries(rows: readonly DayRow[], nowMs: number): StatsJson['daily'] {
  const byDay = new Map(rows.map((row) => [row.day, row]));
  return Array.from({ length: DAYS }, (_, index) => {
    const day = new Date(nowMs - (DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    const row = byDay.get(day);
    return { day, count: row?.count ?? 0, mean: row?.mean ?? null };
  });
}

async function requireVersion(tx: TransactionSql, evaluator: EvaluatorRow, number: number): Promise<Version> {
  const version = await findVersion(tx, evaluator, number);
  if (version !== undefined) return version;
  throw new AssayError('not_found', `The evaluator ${evaluator.evaluator_id} has no version ${number}`);
}

async function collect(
  tx: TransactionSql,
  evaluator: EvaluatorRow,
  wanted: Wanted,
  nowMs: number,
): Promise<StatsJson> {
  const version = await requireVersion(tx, evaluator, wanted.version ?? evaluator.version);
  const threshold = wanted.threshold ?? passThreshold(version);
  const { evaluations, range, passing, judge, hasProbes } = await sumOutcomes(tx, version, threshold);
  const scores = await sumScores(tx, version, range);
  const buckets = bucketsOf(version, scores);
  const counted = await countBuckets(tx, version, buckets);
  const firstDay = new Date(nowMs - (DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
  const days = await listDays(tx, version, range, firstDay);
  const latency = judge.calls === 0 ? { p50: null, p95: null } : await judgeLatency(tx, version);
  const basis = await findBasis(tx, version.organizationId, version.evaluatorId);
  const agreement = await countAgreement(tx, version, threshold, basis);
  const probes = hasProbes ? await sumProbes(tx, version, threshold) : [];
  return {
    evaluator_id: version.evaluatorId,
    version: version.version,
    evaluations,
    scores: { ...scores, distribution: counted },
    daily: dailySeries(days, nowMs),
    judge: {
      calls: judge.calls,
      prompt_tokens: judge.prompt_tokens,
      completion_tokens: judge.completion_tokens,
      cost: judge.cost_nano === null ? null : nanoToUsd(String(judge.cost_nano)),
      latency_ms: { total: judge.latency_ms, ...latency },
    },
    agreement: agreementJson(threshold, { ...agreement, ...passing }, basis),
    probes: probeJson(probes),
    jury: await juryStats(tx, version),
  };
}

/** Returns the statistics of one version of an evaluator; without `version`, of the current one. */
export type Stats = (organizationId: string, evaluatorId: string, query: StatsQuery) => Promise<StatsJson>;

export function createStats({ sql, clock }: Pick<Context, 'sql' | 'clock'>): Stats {
  return async (organizationId, evaluatorId, query) => {
    const wanted = wantedBy(query);
    return inOrganization(sql, organizationId, async (tx) =>
      collect(tx, await requireEvaluator(tx, organizationId, evaluatorId), wanted, clock.now()),
    );
  };
}
