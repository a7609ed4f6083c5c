import t from 'tap';
import { request } from 'undici';
import { Reply, readBody, serve } from '#platform/http-server/mod.ts';

t.test('a body over the limit is refused, with a content-length and without', async (t) => {
  const server = await serve({
    host: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      try {
        return new Reply(String((await readBody(request, 1_000)).length));
      } catch (error) {
        return new Reply((error as { code: string }).code, { status: 413 });
      }
    },
  });
  t.teardown(() => server.close(0));
  const post = async (body: string | AsyncIterable<Uint8Array>) => {
    const answer = await request(server.url, { method: 'POST', body: body as string });
    return [answer.statusCode, await answer.body.text()];
  };
  async function* chunks() {
    for (let index = 0; index < 20; index += 1) yield Buffer.alloc(100);
  }
  t.same(await post('x'.repeat(1_000)), [200, '1000']);
  t.same(await post('x'.repeat(1_001)), [413, 'body_too_large']);
  t.same(await post(chunks()), [413, 'body_too_large']);
  t.same(await post('x'.repeat(5_000_000)), [413, 'body_too_large']);
});
