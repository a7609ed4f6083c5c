/** Estimates the work and the cost of a run over history. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable } from '#core/contracts/shapes.ts';
import { compileFilter, type Filter, Parameters, parseFilter } from '#core/filter/mod.ts';
import { lastOfSession } from '#core/sessions/mod.ts';
import { LEFT_FOR_WANT_OF_MONEY, meanCostSoFar } from '#platform/evaluations/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { nanoToUsd, runStatement } from '../requests/mod.ts';
import type { Context } from './context.ts';
import type { EvaluatorRow } from './evaluator-json.ts';
import { refuseImported, requireEvaluator } from './rules.ts';

export const DryRunJson = Type.Object(
  {
    matching: Type.Integer({
      description: 'Requests that pass the filter; for an evaluator of sessions, the sessions that have one',
    }),
    already_scored: Type.Integer({
      description:
        'Those of them that this version has an evaluation of: they are not scored again. What a run left for want of money is none',
    }),
    estimated_cost_usd: Nullable(
      Type.Number(),
      'Of what would be scheduled, by what evaluations of this evaluator cost so far; null: not known',
    ),
  },
  { ...closed, $id: 'DryRun' },
);
export type DryRunJson = Static<typeof DryRunJson>;

/** From so many matches and evaluations on, one pass over both takes less than to look each of them up. */
const MANY = 10_000;

/**
 * Counts the matches that a version has an evaluation of. Of scores Postgres expects next to no matches, and would look each up: it is told
 * not to where there are many.
 * @param matching how many requests pass the filter
 */
async function countScored(
  tx: TransactionSql,
  organizationId: string,
  evaluator: EvaluatorRow,
  { filter, matching }: { filter: Filter; matching: number },
): Promise<number> {
  if (matching >= MANY && (await hasManyEvaluations(tx, evaluator)))
    await tx`set local enable_nestloop = off`;
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const text = `
    select count(*)::int4 as count
    from assay.evaluations e
    join assay.requests r
      on r.organization_id = e.organization_id and r.created_at = e.created_at and r.request_id = e.request_id
    where e.organization_id = ${organization}
      and e.evaluator_id = ${parameters.bind(evaluator.evaluator_id, 'uuid')}
      and e.version = ${parameters.bind(evaluator.version, 'int4')} and e.probe = '' and not ${LEFT_FOR_WANT_OF_MONEY}
      and r.source <> 'evaluator' and ${compileFilter(filter, parameters, { joins: true })}`;
  const [row] = await runStatement<{ count: number }>(tx, { text, values: parameters.values });
  return row!.count;
}

async function hasManyEvaluations(
  tx: TransactionSql,
  { evaluator_id, version }: EvaluatorRow,
): Promise<boolean> {
  const found = await tx`
    select from assay.evaluations where evaluator_id = ${evaluator_id} and version = ${version} offset ${MANY - 1} limit 1`;
  return found.length > 0;
}

/** Counts the sessions of a run, and those of them whose newest request this version has an evaluation of. */
async function countSessions(
  tx: TransactionSql,
  {
    organizationId,
    evaluator,
    filter,
    until,
  }: {
    organizationId: string;
    evaluator: EvaluatorRow;
    filter: Filter;
    until: Date;
  },
): Promise<{ matching: number; scored: number }> {
  const parameters = new Parameters();
  const conditions = lastOfSession({ organizationId, filter, until }, parameters);
  const text = `
    select count(*)::int4 as matching,
           count(*) filter (where exists (
             select from assay.evaluations e
              where e.organization_id = r.organization_id and e.request_id = r.request_id and e.created_at = r.created_at
                and e.evaluator_id = ${parameters.bind(evaluator.evaluator_id, 'uuid')}
                and e.version = ${parameters.bind(evaluator.version, 'int4')} and e.probe = ''
                and not ${LEFT_FOR_WANT_OF_MONEY}))::int4 as scored
      from assay.requests r where ${conditions.join(' and ')}`;
  const [row] = await runStatement<{ matching: number; scored: number }>(tx, {
    text,
    values: parameters.values,
  });
  return row!;
}

/** Versions that are looked through for one whose evaluations have a cost. */
const MOST_VERSIONS = 10;

/**
 * Returns the cost of an evaluation in nano-dollars, by the latest of its version, or of the one before that has some; null: not
 * known.
 */
export async function costSoFar(
  tx: TransactionSql,
  evaluator: Pick<EvaluatorRow, 'evaluator_id' | 'scoring_type' | 'version'>,
): Promise<number | null> {
  if (evaluator.scoring_type === 'PYTHON') return 0;
  const oldest = Math.max(1, evaluator.version - MOST_VERSIONS + 1);
  for (let version = evaluator.version; version >= oldest; version -= 1) {
    const cost = await meanCostSoFar(tx, { id: evaluator.evaluator_id, version });
    if (cost !== null) return cost;
  }
  return null;
}

/** Counts and estimates; schedules nothing. */
export async function dryRun(
  { sql, requests, clock }: Pick<Context, 'sql' | 'requests' | 'clock'>,
  wanted: {
    organizationId: string;
    evaluatorId: string;
    filter: unknown;
    limit?: number;
    sample?: { n: number };
    maxCostNano: number | null;
  },
): Promise<DryRunJson> {
  const { organizationId, evaluatorId, filter } = wanted;
  const limit = wanted.sample?.n ?? wanted.limit;
  const matchingRequests = await requests.count(organizationId, { filter });
  return inOrganization(sql, organizationId, async (tx) => {
    const evaluator = await requireEvaluator(tx, organizationId, evaluatorId);
    refuseImported(evaluator);
    const parsed = parseFilter(filter);
    const until = new Date(clock.now());
    const { matching, scored } =
      evaluator.scope === 'session'
        ? await countSessions(tx, { organizationId, evaluator, filter: parsed, until })
        : {
            matching: matchingRequests,
            scored: await countScored(tx, organizationId, evaluator, {
              filter: parsed,
              matching: matchingRequests,
            }),
          };
    const cost = await costSoFar(tx, evaluator);
    const count = Math.min(limit ?? Number.POSITIVE_INFINITY, Math.max(0, matching - scored));
    return {
      matching,
      already_scored: scored,
      estimated_cost_usd:
        cost === null
          ? null
          : nanoToUsd(
              String(Math.min(wanted.maxCostNano ?? Number.POSITIVE_INFINITY, Math.round(cost * count))),
            ),
    };
  });
}
