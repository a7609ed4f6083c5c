/** The JetStream stream that log entries travel in: its declaration, its messages, and reading them. */
export { checkNats } from './check.ts';
export { LogReader, LogStreamGoneError, type ReceivedMessage } from './log-reader.ts';
export {
  ACK_WAIT_MS,
  awaitsLostMessage,
  type DeclaredStream,
  declareLogStream,
  deleteConsumer,
  holdsMessage,
  jetStreamErrorCode,
  readPositions,
  type StreamPositions,
} from './log-stream.ts';
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
  sizeInMessage,
} from './message.ts';
