import { type CompileOptions, compileFilter, type Parameters } from '#core/filter/mod.ts';
import type { RequestQuery } from './query.ts';

const SCORES_OF_REQUEST =
  'from assay.request_scores s where s.organization_id = r.organization_id ' +
  'and s.created_at = r.created_at and s.request_id = r.request_id';

/**
 * The condition on a row `r` that belongs to a query's answer. Says the organization itself, whatever row-level security
 * adds, and leaves out the calls that evaluators make.
 *
 * @param organization the organization's placeholder
 */
export function conditionOf(
  query: Pick<RequestQuery, 'filter' | 'isCached' | 'isPartOfExperiment' | 'isScored'>,
  organization: string,
  parameters: Parameters,
  options: CompileOptions,
): string {
  const conditions = [`r.organization_id = ${organization}`, `r.source <> 'evaluator'`];
  if (query.isCached) conditions.push('r.cached_from is not null');
  if (query.isPartOfExperiment) conditions.push('r.experiment_id is not null');
  if (query.isScored) {
    conditions.push(
      options.joins ? `exists (select ${SCORES_OF_REQUEST})` : `(select true ${SCORES_OF_REQUEST} limit 1)`,
    );
  }
  conditions.push(compileFilter(query.filter, parameters, options));
  return conditions.join(' and ');
}
