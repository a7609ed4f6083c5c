/** Forwards the outboxes of this machine into NATS. */
export { type LogPipeline, openLogPipeline } from './open-log-pipeline.ts';
