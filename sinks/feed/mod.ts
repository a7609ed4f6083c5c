/** The change feed, as its sinks see it: each change once, in order, in a transaction with its effect. */
export { startFeedKeeper } from './keeper.ts';
export { createFeedMetrics, type FeedMetrics } from './metrics.ts';
export { runSink } from './run-sink.ts';
export { BatchLate, type Change, type ChangeSignal, type RunningSink, type Sink } from './sink.ts';
