/** From the outboxes of this machine into NATS. */
export { Forwarder, type ForwarderOptions } from './forwarder.ts';
export { type LogPath, type LogPathOptions, openLogPath } from './log-path.ts';
export { type ForwarderThread, startForwarder, type ThreadData } from './thread.ts';
