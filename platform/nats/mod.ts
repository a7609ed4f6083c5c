/** Connections to NATS. */

export { announceChange, type ChangeWatcher, createChangeWatcher } from './changes.ts';
export {
  type ConnectNatsOptions,
  connectNats,
  connectOnce,
  type NatsAddress,
  type NatsConnection,
  NatsRefusalError,
  publicAddresses,
} from './connect.ts';
export { ConnectionMonitor, DisconnectedError } from './connection-monitor.ts';
