/** Connections to NATS. */
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
export { announceKeyChange, watchKeyChanges } from './key-changes.ts';
