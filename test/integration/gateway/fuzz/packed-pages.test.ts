/** Packed pages in place of errors: unpacked off the event loop, and only as far as they are quoted. */
import t from 'tap';
import { loopDelayMs } from '../../../support/loop-delay.ts';
import { CODINGS, packed } from './codings.ts';
import { endpointOf, relayed } from './relay-world.ts';

const PAGE = Buffer.alloc(96 * 1024 * 1024, '<p>The model is down</p>\n');
const QUOTED_CHARACTERS = 2_000;
/** To unpack all of it at once takes more than twice as long. */
const LONGEST_STALL_MS = 100;

for (const coding of CODINGS) {
  t.test(`${coding}: an error page of 96 MiB is quoted without delaying other calls`, async (t) => {
    const bytes = packed(coding, PAGE);
    const stallMs = await loopDelayMs(3, async () => {
      const given = await relayed({
        surface: endpointOf('chat'),
        translation: null,
        hidesUsage: false,
        status: 503,
        headers: { 'content-type': 'text/html', 'content-encoding': coding },
        chunks: [bytes],
        ending: 'end',
        hasTurns: false,
      });
      t.equal(given.status, 503);
      const quoted = PAGE.toString('utf8', 0, QUOTED_CHARACTERS);
      const { message } = JSON.parse(given.bytes.toString()).error;
      t.equal(message, `The provider OPENAI answered 503: ${quoted}…`);
      t.ok(given.outcome.responseBody.equals(bytes), 'the record has what came');
    });
    t.ok(stallMs < LONGEST_STALL_MS, `${stallMs} ms`);
  });
}
