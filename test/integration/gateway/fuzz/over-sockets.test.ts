/** The whole gateway, from socket to socket and into Postgres: bytes pass both ways, and the log keeps them. */
import { deepStrictEqual, strictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { API_ENDPOINTS } from '../../../../gateway/endpoints/endpoint.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import type { StoredRecord } from '../../../support/gateway.ts';
import { codings, packed } from './codings.ts';
import { spaces, unknownMembers, writeObject } from './json-text.ts';
import { requestBodies } from './request-bodies.ts';
import { sameBytes } from './same-bytes.ts';
import { sampled, startWorld } from './sockets.ts';
import { streamCases } from './stream-cases.ts';

const world = await startWorld(t);

/** A body as the log has it: its bytes as given where the text is another. */
function kept(text: string, raw: Buffer | null): Buffer {
  return raw ?? Buffer.from(text);
}

const calls = fc.constantFrom(...API_ENDPOINTS).chain((surface) =>
  fc.record({
    surface: fc.constant(surface),
    address: fc.constantFrom(...surface.addresses),
    body: requestBodies(surface),
    coding: fc.option(codings, { freq: 4, nil: null }),
    cuts: fc.array(fc.nat(), { maxLength: 5 }),
    answer: fc.tuple(unknownMembers, spaces).map(([members, gaps]) => writeObject(members, gaps)),
    status: fc.constantFrom(200, 200, 201, 400, 404, 429, 500, 529),
  }),
);

t.test(
  'over sockets, random bodies of all endpoints are relayed both ways unchanged, and recorded',
  async (t) => {
    await sampled(calls, runs(t, 600), async ({ surface, address, body, coding, cuts, answer, status }) => {
      const told = Buffer.from(answer, 'latin1');
      const given = await world.send({
        path: address,
        body: coding === null ? body.sent : packed(coding, body.sent),
        headers: coding === null ? {} : { 'content-encoding': coding },
        cuts,
        behaviour: { kind: 'bytes', body: told, status },
      });
      strictEqual(given.status, status);
      strictEqual(given.heard?.path, surface.path);
      sameBytes(given.heard!.body, body.expected, 'what the provider hears');
      sameBytes(given.bytes, told, 'what the client reads');
      strictEqual(given.headers['content-length'], String(told.length));
      const row = await world.gateway.record(given.id);
      sameBytes(kept(row.request_text, row.request_raw), body.sent, 'what the log keeps of the request');
      sameBytes(kept(row.response_text, row.response_raw), told, 'what the log keeps of the answer');
      strictEqual(row.is_stream, false);
    });
  },
);

/** Members of a record that differ between two equal calls. */
const OWN_COLUMNS = ['request_id', 'created_at', 'response_created_at', 'latency_ms', 'ttft_ms'];

function withoutOwn(row: StoredRecord): object {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !OWN_COLUMNS.includes(name)));
}

t.test('over sockets, a stream cut anywhere is relayed and recorded like the uncut stream', async (t) => {
  const streams = fc.record({ stream: streamCases, cuts: fc.array(fc.nat(), { maxLength: 12 }) });
  await sampled(streams, runs(t, 300), async ({ stream, cuts }) => {
    const { surface, hidesUsage, bytes, ending, expected } = stream;
    const model = surface.providerEndpoint === 'messages' ? 'claude-sonnet-4-5' : 'gpt-4o-mini';
    const asks = hidesUsage ? {} : { stream_options: { include_usage: true } };
    const body = Buffer.from(JSON.stringify({ model, stream: true, ...asks }));
    const send = async (at: readonly number[]) => {
      const given = await world.send({
        path: surface.path,
        body,
        behaviour: {
          kind: 'bytes',
          body: bytes,
          headers: { 'content-type': 'text/event-stream; charset=utf-8' },
          chunking: { at },
          ending,
        },
      });
      return { given, row: await world.gateway.record(given.id) };
    };
    const [whole, cut] = await Promise.all([send([]), send(cuts.map((place) => place % (bytes.length + 1)))]);
    for (const { given, row } of [whole, cut]) {
      sameBytes(given.bytes.subarray(0, expected.bytes.length), expected.bytes, 'what the client reads');
      if (expected.isComplete)
        sameBytes(given.bytes.subarray(expected.bytes.length), expected.rest, 'and how it ends');
      strictEqual(row.truncated, !expected.isComplete);
    }
    sameBytes(cut.given.bytes, whole.given.bytes, 'cut or not');
    deepStrictEqual(withoutOwn(cut.row), withoutOwn(whole.row));
  });
});
