/** What one version of an evaluator did, cost, and can be trusted with. */

import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type { EvaluationState, Probe } from '#core/scoring/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { nanoToUsd } from '../requests/mod.ts';
import { type AgreementJson, agreementJson, type ProbeJson, probeJson } from './agreement.ts';
import type { Context } from './context.ts';
import { type Bucket, bucketsOf, passThreshold } from './distribution.ts';
import type { EvaluatorRow } from './evaluator-json.ts';
import { requireEvaluator } from './evaluators.ts';
import { readUuid } from './ids.ts';
import {
  countAgreement,
  countBuckets,
  countStates,
  type DayRow,
  findVersion,
  listDays,
  sumJudge,
  sumProbes,
  sumScores,
  type Version,
} from './stats-statements.ts';

export type StatsJson = {
  evaluator_id: string;
  version: number;
  /** Of requests, without probes. */
  evaluations: {
    total: number;
    by_state: Record<EvaluationState, number>;
    /** Of those that failed, and of those that had nothing to score. */
    errors: Record<string, number>;
    skips: Record<string, number>;
  };
  scores: {
    count: number;
    mean: number | null;
    /** Of a sample: null of less than two. */
    standard_deviation: number | null;
    min: number | null;
    max: number | null;
    distribution: Bucket[];
  };
  /** The last 30 days, by when the requests were made (UTC); the oldest first. */
  daily: { day: string; count: number; mean: number | null }[];
  judge: {
    calls: number;
    prompt_tokens: number;
    completion_tokens: number;
    /** USD. */
    cost: number;
    /** Of all calls of an evaluation together. */
    latency_ms: { total: number; p50: number | null; p95: number | null };
  };
  agreement: AgreementJson;
  probes: Record<Probe, ProbeJson>;
};

const DAYS = 30;
const DAY_MS = 86_400_000;

/** What `?version=` and `?threshold=` ask for; null: not given. */
type Wanted = { version: number | null; threshold: number | null };

/** @throws AssayError invalid_body */
function readWanted(search: URLSearchParams): Wanted {
  for (const name of search.keys()) {
    if (name === 'version' || name === 'threshold') continue;
    throw new AssayError('invalid_body', `${name} is not a known parameter: use version or threshold`);
  }
  const version = search.get('version');
  if (version !== null && !/^[1-9]\d{0,8}$/.test(version)) {
    throw new AssayError(
      'invalid_body',
      `version must be a whole number from 1, but is ${quoteValue(version)}`,
    );
  }
  const threshold = search.get('threshold');
  if (threshold !== null && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(threshold)) {
    throw new AssayError('invalid_body', `threshold must be a number, but is ${quoteValue(threshold)}`);
  }
  if (threshold !== null && !Number.isFinite(Number(threshold))) {
    throw new AssayError('invalid_body', 'threshold must be a finite number, but is larger than any');
  }
  return {
    version: version === null ? null : Number(version),
    threshold: threshold === null ? null : Number(threshold),
  };
}

/** The days up to today, those without scores too. */
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
  const evaluations = await countStates(tx, version);
  const scores = await sumScores(tx, version);
  const threshold = wanted.threshold ?? passThreshold(version);
  const buckets = bucketsOf(version, scores);
  const counted = await countBuckets(tx, version, buckets);
  const firstDay = new Date(nowMs - (DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
  const days = await listDays(tx, version, firstDay);
  const judge = await sumJudge(tx, version);
  const agreement = await countAgreement(tx, version, threshold);
  const probes = await sumProbes(tx, version, threshold);
  return {
    evaluator_id: version.evaluatorId,
    version: version.version,
    evaluations,
    scores: { ...scores, distribution: counted },
    daily: dailySeries(days, nowMs),
    judge: {
      calls: judge.calls,
      prompt_tokens: Number(judge.prompt_tokens),
      completion_tokens: Number(judge.completion_tokens),
      cost: nanoToUsd(judge.cost_nano),
      latency_ms: { total: Number(judge.latency_ms), p50: judge.p50, p95: judge.p95 },
    },
    agreement: agreementJson(threshold, agreement),
    probes: probeJson(probes),
  };
}

/** The statistics of one evaluator's version; without `?version=` of the current one. */
export type Stats = (organizationId: string, id: string, search: URLSearchParams) => Promise<StatsJson>;

export function createStats({ sql, clock }: Pick<Context, 'sql' | 'clock'>): Stats {
  return async (organizationId, id, search) => {
    const evaluatorId = readUuid('evaluator', id);
    const wanted = readWanted(search);
    return inOrganization(sql, organizationId, async (tx) =>
      collect(tx, await requireEvaluator(tx, organizationId, evaluatorId), wanted, clock.now()),
    );
  };
}
