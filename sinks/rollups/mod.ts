/** Roll-ups, a sink: it marks the buckets whose requests have changed, and a loop beside it recomputes them. */
import { runSink, type Sink } from '../feed/mod.ts';
import type { StartPart } from '../part.ts';
import { startRollupLoop } from './loop.ts';
import { markStale } from './mark.ts';
import { markAllStale } from './mark-all.ts';

export { checkRollups } from './check.ts';
export { rebuildRollups } from './rebuild.ts';

/** @internal Exported so that tests apply one batch at a time. */
export const ROLLUPS: Sink = {
  name: 'rollups',
  apply: markStale,
  // Marks everything: records do not have their time of arrival, so the new ones cannot be found.
  resume: async (tx) => {
    await markAllStale(tx, null);
  },
};

/** Starts the sink and the loop. */
export const startRollups: StartPart = (context) => {
  const loop = startRollupLoop({ ...context, longestSleepMs: context.changes.longestSleepMs });
  const running = [runSink({ ...context, sink: ROLLUPS, onApplied: loop.wake }), loop];
  return {
    async stop() {
      await Promise.all(running.map((one) => one.stop()));
    },
  };
};
