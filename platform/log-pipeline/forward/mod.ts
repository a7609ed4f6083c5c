/** Forwards the outboxes of this machine into NATS. */
export { openLogPipeline } from './open-log-pipeline.ts';
