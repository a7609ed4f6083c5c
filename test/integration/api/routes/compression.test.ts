/** Which answers of the management API are compressed. */
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import t from 'tap';
import { request } from 'undici';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
  await insertRequests(
    api.database.sql,
    api.own.organizationId,
    Array.from({ length: 20 }, (_, index) => ({
      request_id: `r-${index}`,
      preview_in: 'Which of these is compressed? '.repeat(6),
    })),
  );
});

async function post(path: string, body: object, acceptEncoding: string) {
  const {
    statusCode,
    headers,
    body: received,
  } = await request(`${api.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${api.own.key}`,
      'content-type': 'application/json',
      'accept-encoding': acceptEncoding,
    },
    body: JSON.stringify(body),
  });
  return { status: statusCode, headers, bytes: Buffer.from(await received.arrayBuffer()) };
}

t.test('rows, an export and a long error are compressed, with the same content', async (t) => {
  const CALLS: [string, object, number][] = [
    ['/v1/request/rows', { filter: 'all' }, 200],
    ['/v1/request/export', { filter: 'all', format: 'ndjson' }, 200],
    ['/v1/request/rows', { filter: 'all', columns: ['x'.repeat(200)], [`${'y'.repeat(900)}`]: 1 }, 400],
  ];
  for (const [path, body, status] of CALLS) {
    const plain = await post(path, body, 'identity');
    const coded = await post(path, body, 'gzip');
    t.strictSame([plain.status, coded.status], [status, status], path);
    t.equal(plain.headers.vary, 'Accept-Encoding');
    t.equal(plain.headers['content-encoding'], undefined);
    if (plain.bytes.length < 1_024) continue;
    t.match(coded.headers, { 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    t.equal(gunzipSync(coded.bytes).toString(), plain.bytes.toString());
    t.ok(coded.bytes.length < plain.bytes.length / 3);
  }
});

t.test('the document is compressed for a client without a key', async (t) => {
  const { headers, body } = await request(`${api.url}/openapi.json`, {
    headers: { 'accept-encoding': 'zstd' },
  });
  t.equal(headers['content-encoding'], 'zstd');
  JSON.parse(zstdDecompressSync(Buffer.from(await body.arrayBuffer())).toString());
});

t.test('a short answer and a short error come as they are', async (t) => {
  for (const body of [{ filter: 'all' }, { filter: 1 }]) {
    const { headers } = await post('/v1/request/count/query', body, 'gzip, br, zstd');
    t.equal(headers['content-encoding'], undefined);
    t.equal(headers.vary, 'Accept-Encoding');
  }
});
