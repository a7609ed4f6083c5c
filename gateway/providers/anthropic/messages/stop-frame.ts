/** Its name stands at the beginning; Anthropic may fill an event with spaces behind it. */
const NAME_WITHIN = 128;
const STOP = /(?:^|\n)(?:event: ?message_stop\s|data: ?\{\s*"type"\s*:\s*"message_stop"\s*[,}])/;

/** Whether a frame is the `message_stop` that ends a stream of Anthropic's, as `[DONE]` ends one of OpenAI's. */
export function isMessageStopFrame(frame: Buffer): boolean {
  return STOP.test(frame.toString('latin1', 0, NAME_WITHIN));
}
