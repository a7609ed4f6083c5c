/** Nothing longer is looked at. Anthropic may fill an event with spaces. */
const LONGEST_STOP_FRAME = 256;

/** Whether a frame is the `message_stop` that ends a stream of Anthropic's, as `[DONE]` ends one of OpenAI's. */
export function isMessageStopFrame(frame: Buffer): boolean {
  return (
    frame.length <= LONGEST_STOP_FRAME &&
    /(?:^|\n)data: ?\{\s*"type"\s*:\s*"message_stop"\s*[,}]/.test(frame.toString('latin1'))
  );
}
