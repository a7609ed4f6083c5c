/** Metrics of requests over time, in groups. */
import type { Facets, FacetsBody } from '#core/contracts/facets.ts';
import type { MetricsAnswer, MetricsQueryBody } from '#core/contracts/metrics.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import { findFacets } from './facets.ts';
import { runMetricsQuery } from './run.ts';

export { runMetricsQuery } from './run.ts';

/** The work behind `/v1/metrics/query` and `/v1/request/facets`, for one organization at a time. */
export type MetricsService = {
  query(organizationId: string, body: MetricsQueryBody): Promise<MetricsAnswer>;
  facets(organizationId: string, body: FacetsBody): Promise<Facets>;
};

/** @param sql a pool under the role `assay_api` */
export function createMetricsService({ sql }: { sql: Sql }): MetricsService {
  const isSnapshot = true;
  return {
    query: (organizationId, body) =>
      inOrganization(sql, organizationId, (tx) => runMetricsQuery(tx, organizationId, body), { isSnapshot }),

    facets: (organizationId, body) =>
      inOrganization(sql, organizationId, (tx) => findFacets(tx, organizationId, body), { isSnapshot }),
  };
}
