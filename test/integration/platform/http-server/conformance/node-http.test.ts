/** The same streams of requests, well-formed and mutated, to Assay's server and to Node's, whose parser is llhttp. */
import { deepStrictEqual, fail } from 'node:assert';
import { METHODS } from 'node:http';
import fc from 'fast-check';
import t from 'tap';
import { runs } from '../../../../support/fuzz-runs.ts';
import { type Heard, type HeardRequest, hearAssay, hearNode } from './hearing.ts';
import { requestStream } from './request-streams.ts';

/** Assay's refusals of what Node accepts. Any other one fails the test. */
const ASSAY_IS_STRICTER: [refusal: RegExp, reason: string][] = [
  [/must have one Host header/, 'RFC 9112, section 3.2; Node checks it beside its parser, and here does not'],
  [/Host header is not a host and port/, 'RFC 9112, section 3.2: an invalid Host must be answered with 400'],
  [/target is neither a path nor an http URL/, 'no route is for `*` or for an authority'],
  [
    /request line is not one of HTTP\/1\.1/,
    'Node takes a line without version for HTTP/0.9, and two spaces for one',
  ],
  [
    /not chunked alone, in HTTP\/1\.1/,
    'RFC 9112, section 6.1: no chunks in HTTP/1.0; other codings are unknown here',
  ],
  [/Content-Length beside a Transfer-Encoding/, 'RFC 9112, section 6.3: a sign of smuggling'],
  [/followed by an invalid extension/, 'RFC 9112, section 7.1.1: `;a=` has no value'],
  [
    /the size of a chunk has too many digits/,
    'at most eight digits: Node allows any number of zeros before them',
  ],
  [/a line does not end in CR LF/, 'Node passes over a lone LF before a request'],
];

/** Node's refusals of what Assay accepts, each with what the stream, or the request, must have in it. */
const NODE_IS_STRICTER: Record<string, (text: string, request: HeardRequest) => boolean> = {
  // RFC 9112, section 7.1.1: blanks around a semicolon or an equals sign must be removed.
  HPE_STRICT: (text) => /^[0-9a-f]+[^\r\n]*(?:;[ \t]|[ \t]=|=[ \t])/im.test(text),
  HPE_INVALID_CHUNK_SIZE: (text) => /^[0-9a-f]+[ \t]+;/im.test(text),
  // RFC 9110, section 8.6: the same length may come several times. A trailer of that name is not read.
  HPE_INVALID_CONTENT_LENGTH: (text) =>
    /^content-length:[ \t]*(\d+)[ \t]*,[ \t]*\1\b/im.test(text) || TRAILER.test(text),
  HPE_INVALID_TRANSFER_ENCODING: (text) => TRAILER.test(text),
  HPE_UNEXPECTED_CONTENT_LENGTH: (text) => [...text.matchAll(/^content-length:[ \t]*\d+/gim)].length > 1,
  // RFC 9110, section 9.1: a method is any token; no route has one that Node does not know.
  HPE_INVALID_METHOD: (_text, { method }) => !METHODS.includes(method),
  // No route has such a target.
  HPE_INVALID_URL: (_text, { target }) => /[^\x21-\x7e]/.test(target),
};
const TRAILER = /^0+(?:[ \t]*;[^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*(?:content-length|transfer-encoding):/im;

/** Fails unless both saw the same requests, or the one that saw fewer refused the next for a listed reason. */
function compare(text: string, assay: Heard, node: Heard): void {
  const both = Math.min(assay.requests.length, node.requests.length);
  deepStrictEqual(assay.requests.slice(0, both), node.requests.slice(0, both));
  if (node.requests.length > both) {
    const isListed = ASSAY_IS_STRICTER.some(([refusal]) => refusal.test(assay.refusal ?? ''));
    if (!isListed) fail(`Node accepts what Assay refuses: ${assay.refusal ?? 'it waits for more'}`);
  }
  const accepted = assay.requests[both];
  if (accepted !== undefined && NODE_IS_STRICTER[node.refusal ?? '']?.(text, accepted) !== true)
    fail(`Assay accepts what Node refuses: ${node.refusal ?? 'it waits for more'}`);
}

t.test(
  'Assay and Node parse the same requests and bodies from any framing, mutation and cut',
  { timeout: 180_000 },
  async (t) => {
    const assay = await hearAssay(t);
    const node = await hearNode(t);
    let requests = 0;
    const property = fc.asyncProperty(requestStream, async ({ text, pieces }) => {
      const [ours, theirs] = await Promise.all([assay(pieces), node(pieces)]);
      requests += Math.min(ours.requests.length, theirs.requests.length);
      compare(text, ours, theirs);
    });
    const parameters = runs(t, 2_000);
    await fc.assert(property, parameters);
    t.ok(requests > parameters.numRuns / 4, `both saw ${requests} requests alike`);
  },
);
