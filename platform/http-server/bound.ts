/** The bound of a role's connections, and its metrics. */
import type { Logger } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ConnectionBound, ConnectionCounts } from './connections.ts';

/** Makes a bound whose first refusal is warned of. */
export function warningBound(max: number, log: Logger): ConnectionBound {
  return {
    max,
    onReached: () =>
      log.warn(
        { max },
        'All connections that the limit of open files (ulimit -n) has room for are in use; further ones are turned away with a 503',
      ),
  };
}

/** Registers how many connections there are. */
export function watchConnections(metrics: Metrics, connections: ConnectionCounts): void {
  metrics.readOnDemand('http_connections', 'Connections of clients that are open', () => connections.count);
  metrics.countedElsewhere(
    'http_connections_refused_total',
    'Connections that were turned away, as all that the limit of open files has room for were in use',
    () => connections.refused,
  );
}
