import type { Clock } from '#platform/process/clock.ts';
import type { RequestService } from '../requests/mod.ts';
import type { DefineOptions } from './define.ts';

/** The dependencies of the parts of the service. */
export type Context = DefineOptions & {
  clock: Clock;
  /** Counts the requests that a run would score. */
  requests: Pick<RequestService, 'count'>;
};
