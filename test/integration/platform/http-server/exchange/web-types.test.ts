/** Requests and replies are web requests and responses by their members, also the ones that handlers rarely use. */
import t from 'tap';
import { Reply } from '#platform/http-server/mod.ts';
import { served } from './wire.ts';

t.test('a handler reads the body of a request by the methods of a web request', async (t) => {
  const dial = await served(t, async (request) => {
    const { pathname } = new URL(request.url);
    const read = pathname === '/json' ? await request.json() : await request.text();
    return new Reply(JSON.stringify({ read, type: request.headers.get('content-type'), mode: request.mode }));
  });
  const wire = await dial();
  wire.send(
    'POST /json HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"a":[1]}',
  );
  await wire.until('{"read":{"a":[1]},"type":"application/json","mode":"cors"}');
  wire.send('POST /text HTTP/1.1\r\nhost: x\r\ncontent-type: a/b\r\ncontent-length: 2\r\n\r\nhi');
  await wire.until('{"read":"hi","type":"a/b"');
});

t.test('a reply is an instance of Response, and its body can be read as one', async (t) => {
  const reply = new Reply('{"a":1}', { status: 201, headers: { 'content-type': 'application/json' } });
  t.ok(reply instanceof Response);
  t.ok(reply.ok);
  t.same(await reply.clone().json(), { a: 1 });
  t.equal(await reply.text(), '{"a":1}');
  t.equal(reply.headers.get('content-type'), 'application/json');
  t.throws(() => new Reply({ pipe: () => {} }).body, TypeError);
});
