/** The same answers, well-formed and mutated, to the gateway's client and to undici, whose parser is llhttp. */
import { deepStrictEqual, fail } from 'node:assert';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { Client } from 'undici';
import { runs } from '../../../support/fuzz-runs.ts';
import { answerStream } from './answer-streams.ts';
import { startCalls, startWire } from './wire.ts';

type Answer = { status: number | null; body: string; error: string | null };

/** Responses that the gateway refuses and undici accepts. Any other refusal fails the test. */
const GATEWAY_IS_STRICTER: [error: RegExp, reason: string][] = [
  [
    /transfer-encoding is not chunked alone/,
    'undici reads an answer of unknown coding until the connection ends',
  ],
  [/followed by an invalid extension/, 'RFC 9112, section 7.1.1: `;a=` has no value'],
  [
    /the size of a chunk has too many digits/,
    'at most eight digits: undici allows any number of zeros before them',
  ],
  [/status \d+ is not one of HTTP/, 'RFC 9110, section 15: statuses are from 100 to 599'],
  [/content-type headers contradict/, 'one body has one type: undici leaves the choice to its caller'],
  [/status line/, 'undici passes over lone carriage returns and line feeds before an answer'],
];

/** Responses that undici refuses and the gateway accepts, each with a text that the stream or body must have. */
const UNDICI_IS_STRICTER: [error: RegExp, isMeant: (text: string, answer: Answer) => boolean][] = [
  // An answer of 204 or 304 has no body, whatever its headers say (RFC 9112, section 6.3).
  [/./, (_text, { status }) => status === 204 || status === 304],
  // undici takes a 100 that it did not ask for as an error; RFC 9110, section 15.2, has clients pass over it.
  [/bad response/, (text) => text.includes('HTTP/1.1 100')],
  // RFC 9112, section 7.1.1: blanks around a semicolon or an equals sign must be removed.
  [/chunk size|chunk ext/, (text) => /^[0-9a-f]+[^\r\n]*(?:[ \t];|;[ \t]|[ \t]=|=[ \t])/im.test(text)],
  // RFC 9110, section 8.6: the same length may come several times.
  [/Content-Length/i, (text) => /^content-length:[ \t]*(\d+)[ \t]*,[ \t]*\1\b/im.test(text)],
  [/Content-Length/i, (text) => [...text.matchAll(/^content-length:/gim)].length > 1],
  // RFC 9112, section 6.3: the length is overridden, and the connection not used again.
  [
    /Content-Length|Transfer-Encoding/i,
    (text) => /^content-length/im.test(text) && /^transfer-encoding/im.test(text),
  ],
];

/**
 * RFC 9112, section 5.1: blanks after a value are no part of it. undici counts them as digits of a length, and knows no tab
 * there: `chunked\t` is an unknown coding to it. What it makes of such an answer says nothing.
 */
const UNDICI_MISREADS = /^(?:content-length:[ \t]*\d+|transfer-encoding:[ \t]*chunked)[ \t]+\r?$/im;

async function askUndici(origin: string): Promise<Answer> {
  const client = new Client(origin, { headersTimeout: 5_000, bodyTimeout: 5_000 });
  try {
    const { statusCode, body } = await client.request({ method: 'POST', path: '/', body: '{}' });
    const bytes = Buffer.from(await body.arrayBuffer());
    return { status: statusCode, body: bytes.toString('latin1'), error: null };
  } catch (error) {
    return { status: null, body: '', error: (error as Error).message };
  } finally {
    await client.destroy();
  }
}

function compare(text: string, ours: Answer, theirs: Answer): void {
  if (ours.error === null && theirs.error === null) deepStrictEqual(ours, theirs);
  else if (theirs.error === null) {
    if (!GATEWAY_IS_STRICTER.some(([error]) => error.test(ours.error!))) fail(`undici takes: ${ours.error}`);
  } else if (ours.error === null) {
    const { error } = theirs;
    if (!UNDICI_IS_STRICTER.some(([refusal, isMeant]) => refusal.test(error) && isMeant(text, ours)))
      fail(`The gateway takes: ${error}`);
  }
}

t.test('the gateway and undici read the same status and body from a response, or both fail', async (t) => {
  let pieces: Buffer[] = [];
  const wire = await startWire(t, {
    onRequest: async (socket) => {
      for (const piece of pieces) {
        if (socket.destroyed) return;
        socket.write(piece);
        await nextTurn();
      }
      socket.end();
    },
  });
  const { call } = startCalls(t);
  let alike = 0;
  const property = fc.asyncProperty(answerStream, async ({ text, pieces: cut }) => {
    pieces = cut;
    const { status, body, error } = await call(wire.origin);
    const theirs = await askUndici(wire.origin);
    if (error === null && theirs.error === null) alike += 1;
    if (!UNDICI_MISREADS.test(text))
      compare(text, { status, body, error: error === null ? null : error.message }, theirs);
  });
  const parameters = runs(t, 600);
  await fc.assert(property, parameters);
  t.ok(alike > parameters.numRuns / 8, `${alike} answers were taken by both`);
});
