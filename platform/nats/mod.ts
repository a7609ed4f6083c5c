/** NATS: the connection, and the stream that log entries travel in. */
export { checkNats } from '../log-pipeline/stream/check.ts';
export { LogReader, LogStreamGoneError, type TakenMessage } from '../log-pipeline/stream/log-reader.ts';
export {
  ACK_WAIT_MS,
  codeOf,
  type DeclaredStream,
  declareLogStream,
  deleteConsumer,
  findLogConsumer,
  LOG_STREAM,
  LOG_SUBJECT,
  waitsForNothing,
} from '../log-pipeline/stream/log-stream.ts';
export {
  decodeMessage,
  ENTRIES_OVERHEAD_BYTES,
  type EntryPart,
  encodeDamage,
  encodeEntries,
  encodeParts,
  joinParts,
  type LogMessage,
  MalformedMessageError,
  type PlacedEntry,
  placedSize,
} from '../log-pipeline/stream/message.ts';
export {
  connectNats,
  type NatsAddress,
  type NatsConnection,
  NatsRefusalError,
  publicAddresses,
} from './connect.ts';
export { Line, LineCutError } from './connection-monitor.ts';
export { announceKeyChange, watchKeyChanges } from './key-changes.ts';
