import type { Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { RequestService } from '../requests/mod.ts';
import type { DefineOptions } from './define.ts';

/** The dependencies of the parts of the service. */
export type Context = DefineOptions & {
  /** Under the role `assay_api`. */
  sql: Sql;
  clock: Clock;
  /** Counts the requests that a run would score. */
  requests: Pick<RequestService, 'count'>;
};
