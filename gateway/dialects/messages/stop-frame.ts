/** Bytes that are searched: the name is at the beginning, and Anthropic may pad an event with spaces after it. */
const NAME_WITHIN = 128;
const STOP = /(?:^|\n)(?:event: ?message_stop\s|data: ?\{\s*"type"\s*:\s*"message_stop"\s*[,}])/;

/** Returns whether a frame is the `message_stop` that ends Anthropic's streams, as `[DONE]` ends OpenAI's. */
export function isMessageStopFrame(frame: Buffer): boolean {
  return STOP.test(frame.toString('latin1', 0, NAME_WITHIN));
}
