/** Answers in one piece, in the client's dialect: what the client reads is what the provider sent, byte for byte. */
import { deepStrictEqual, strictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { API_ENDPOINTS } from '../../../../gateway/endpoints/endpoint.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { codings, packed } from './codings.ts';
import { spaces, unknownMembers, writeObject } from './json-text.ts';
import { cutAt, cuts, relayed } from './relay-world.ts';
import { sameBytes } from './same-bytes.ts';

const answers = fc.record({
  surface: fc.constantFrom(...API_ENDPOINTS),
  status: fc.constantFrom(200, 200, 201, 400, 404, 429, 500, 529),
  // The last one is what servers say that forget to.
  contentType: fc.constantFrom(
    'application/json',
    'application/json; charset=utf-8',
    'application/problem+json',
    undefined,
  ),
  coding: fc.option(codings, { freq: 4, nil: null }),
  text: fc.tuple(unknownMembers, spaces).map(([members, gaps]) => writeObject(members, gaps)),
  cuts,
});

t.test('10,000 random responses of any status are relayed unchanged', async (t) => {
  await fc.assert(
    fc.asyncProperty(answers, async ({ surface, status, contentType, coding, text, cuts }) => {
      const plain = Buffer.from(text, 'latin1');
      const bytes = coding === null ? plain : packed(coding, plain);
      const headers = {
        'x-request-id': 'r-1',
        ...(contentType !== undefined && { 'content-type': contentType }),
        ...(coding !== null && { 'content-encoding': coding }),
      };
      const given = await relayed({
        surface,
        translation: null,
        hidesUsage: false,
        status,
        headers,
        chunks: cutAt(bytes, cuts),
        ending: 'end',
        hasTurns: false,
      });
      sameBytes(given.bytes, bytes);
      const wanted = { 'service-request-id': 'call', ...headers };
      deepStrictEqual(given.headers, Object.entries(wanted).flat());
      strictEqual(given.status, status);
      strictEqual(given.bytesBeforeRecord, 0, 'the record comes first');
      const { outcome } = given;
      deepStrictEqual(
        [outcome.status, outcome.truncated, outcome.errorCode, outcome.contentEncoding],
        [status, false, null, coding],
      );
      sameBytes(outcome.responseBody, bytes, 'what the record has');
    }),
    runs(t, 10_000),
  );
});
