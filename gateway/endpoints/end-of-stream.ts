/** The last event of a stream: it waits until the record is committed, and nothing behind it counts. */

/** `[DONE]` frames are tiny; longer ones are not looked at. */
const LONGEST_DONE_FRAME = 64;

/** Returns whether a frame is the `[DONE]` of OpenAI's chat completions and completions. */
export function isDoneFrame(frame: Buffer): boolean {
  return frame.length <= LONGEST_DONE_FRAME && /(?:^|\n)data: ?\[DONE\]\s*$/.test(frame.toString('latin1'));
}

/** The last event of a response holds all of it: only its beginning is searched for its name. */
const NAME_WITHIN = 128;
const RESPONSE_ENDS =
  /(?:^|\n)(?:event: ?|data: ?\{\s*"type"\s*:\s*")response\.(?:completed|incomplete|failed)\s*["\r\n]/;

/** Returns whether a frame is `response.completed`, `.incomplete` or `.failed`, which end the stream of a response. */
export function isResponseEndFrame(frame: Buffer): boolean {
  return RESPONSE_ENDS.test(frame.toString('latin1', 0, NAME_WITHIN));
}
