import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { Reply, rawHeadersOf, readBody } from '#platform/http-server/mod.ts';
import { served } from './wire.ts';

const MAX_BODY_BYTES = 10_000_000;

/** Answers with what was asked: method, target, headers and body. */
async function echo(request: Request): Promise<Response> {
  const body = await readBody(request, MAX_BODY_BYTES);
  const { pathname, search } = new URL(request.url);
  const told = [request.method, pathname + search, rawHeadersOf(request).length / 2, body.toString('latin1')];
  return new Reply(JSON.stringify(told));
}

type Asked = { method: string; path: string; headers: string[]; body: string; chunks: number[] | null };

const asked: fc.Arbitrary<Asked> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'X-ODD'),
  path: fc.stringMatching(/^[a-z0-9%_~-]{0,20}$/).map((path) => `/${path.replaceAll('%', '%25')}`),
  headers: fc.array(fc.stringMatching(/^x-[a-z]{1,8}: [ -~]{0,30}$/), { maxLength: 5 }),
  body: fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    maxLength: 300,
  }),
  chunks: fc.option(fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 6 })),
});

function written({ method, path, headers, body, chunks }: Asked): string {
  const head = `${method} ${path} HTTP/1.1\r\nhost: x\r\n${headers.map((header) => `${header}\r\n`).join('')}`;
  if (chunks === null) return `${head}content-length: ${body.length}\r\n\r\n${body}`;
  let rest = body;
  let text = '';
  for (const size of [...chunks, body.length]) {
    const chunk = rest.slice(0, size);
    rest = rest.slice(size);
    if (chunk !== '') text += `${chunk.length.toString(16)};ext=1\r\n${chunk}\r\n`;
  }
  return `${head}transfer-encoding: chunked\r\n\r\n${text}0\r\ntrailer: x\r\n\r\n`;
}

t.test('pipelined requests, cut anywhere, are answered in order', async (t) => {
  const dial = await served(t, echo);
  const property = fc.asyncProperty(
    fc.array(asked, { minLength: 1, maxLength: 6 }),
    fc.array(fc.nat({ max: 3_000 }), { maxLength: 8 }),
    async (requests, cuts) => {
      const wire = await dial();
      const bytes = Buffer.from(requests.map(written).join(''), 'latin1');
      let from = 0;
      for (const cut of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
        const to = Math.min(cut, bytes.length);
        if (to <= from) continue;
        wire.send(bytes.subarray(from, to));
        from = to;
        await new Promise((resolve) => setImmediate(resolve));
      }
      const bodies = requests.map(({ method, path, headers, body }) =>
        JSON.stringify([method, path, headers.length + 2, body]),
      );
      const last = 'GET /last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
      wire.send(last);
      t.equal(await wire.ended, 'end');
      const answers = wire
        .text()
        .split(/HTTP\/1\.1 200 OK\r\n(?:[^\r]+\r\n)+\r\n/)
        .slice(1);
      t.same(
        answers,
        [...bodies, JSON.stringify(['GET', '/last', 2, ''])].map((body) =>
          Buffer.from(body).toString('latin1'),
        ),
      );
      wire.socket.destroy();
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

t.test('100 Continue is sent only when a handler reads the body', async (t) => {
  const dial = await served(t, async (request) => {
    const { pathname } = new URL(request.url);
    return pathname === '/refused' ? new Reply('no', { status: 401 }) : echo(request);
  });
  const head = 'HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n';
  const wanted = await dial();
  wanted.send(`POST /wanted ${head}`);
  await wanted.until('HTTP/1.1 100 Continue\r\n\r\n');
  wanted.send('hello');
  await wanted.until('["POST","/wanted",3,"hello"]');

  const refused = await dial();
  refused.send(`POST /refused ${head}`);
  t.equal(await refused.ended, 'end', 'whether the body will follow cannot be known');
  t.match(refused.text(), /^HTTP\/1\.1 401 Unauthorized\r\n/);
  t.match(refused.text(), /\r\nconnection: close\r\n/);
  t.notMatch(refused.text(), /100 Continue/);

  const impatient = await dial();
  impatient.send(`POST /impatient ${head}hello`);
  await impatient.until('["POST","/impatient",3,"hello"]');
  t.notMatch(impatient.text(), /100 Continue/);
});

t.test('an HTTP/1.0 client gets a stream that ends with the connection', async (t) => {
  const dial = await served(t, (request) => {
    const isWhole = new URL(request.url).pathname === '/whole';
    return new Reply(isWhole ? 'whole' : new Blob(['a', 'b']).stream());
  });
  const stream = await dial();
  stream.send('GET /stream HTTP/1.0\r\nconnection: keep-alive\r\n\r\n');
  t.equal(await stream.ended, 'end');
  t.match(stream.text(), /\r\n\r\nab$/);
  t.notMatch(stream.text(), /transfer-encoding/i);

  const kept = await dial();
  kept.send('GET /whole HTTP/1.0\r\nconnection: keep-alive\r\n\r\n');
  await kept.until('\r\n\r\nwhole');
  kept.send('GET /whole HTTP/1.0\r\n\r\n');
  t.equal(await kept.ended, 'end');
  t.equal(kept.text().match(/\r\n\r\nwhole/g)?.length, 2);
});

t.test(
  'responses to HEAD and with status 204 or 304 have no body, whatever the handler returns',
  async (t) => {
    const dial = await served(t, (request) => {
      const status = Number(new URL(request.url).pathname.slice(1));
      if (status === 206) return new Response(null, { headers: { 'content-length': '7' } });
      return new Reply(status === 204 ? null : 'a body', { status });
    });
    const known = await dial();
    known.send('HEAD /206 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    t.equal(await known.ended, 'end');
    t.match(known.text(), /\r\ncontent-length: 7\r\n/, 'as it was told');
    const wire = await dial();
    wire.send('HEAD /200 HTTP/1.1\r\nhost: x\r\n\r\nGET /204 HTTP/1.1\r\nhost: x\r\n\r\n');
    wire.send('GET /304 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    t.equal(await wire.ended, 'end');
    const [head = '', empty = '', unchanged = '', rest] = wire.text().split('\r\n\r\n');
    t.match(head, /^HTTP\/1\.1 200 OK\r\n/);
    t.match(head, /\r\ncontent-length: 6\r\n/, 'as a GET would tell');
    t.match(empty, /^HTTP\/1\.1 204 No Content\r\n/);
    t.notMatch(empty, /content-length/);
    t.match(unchanged, /^HTTP\/1\.1 304 Not Modified\r\n/);
    t.equal(rest, '');
  },
);

t.test('a response that fails in the middle ends without a last chunk', async (t) => {
  const dial = await served(t, () => {
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(Buffer.from('half'));
        await sleep(20);
        controller.error(new Error('broken'));
      },
    });
    return new Reply(body);
  });
  const wire = await dial();
  wire.send('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await wire.ended;
  t.match(wire.text(), /\r\n\r\n4\r\nhalf\r\n$/);
});

t.test('an exception or an invalid header of a handler is an internal error', async (t) => {
  const dial = await served(t, (request) => {
    switch (new URL(request.url).pathname) {
      case '/throws':
        throw new Error('secret');
      case '/rejects':
        return Promise.reject(new Error('secret'));
      default:
        return new Reply('x', { headers: [['x-odd', 'a\r\nset-cookie: b']] });
    }
  });
  for (const path of ['/throws', '/rejects', '/header']) {
    const wire = await dial();
    wire.send(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await wire.until('could not be handled"}');
    t.match(wire.text(), /^HTTP\/1\.1 500 /);
    t.notMatch(wire.text(), /secret|set-cookie/);
  }
});

t.test('a stream waits for a client that does not read', async (t) => {
  let pulled = 0;
  const dial = await served(t, () => {
    const chunk = Buffer.alloc(64 * 1024);
    const body = new ReadableStream({
      pull(controller) {
        pulled += 1;
        if (pulled > 1_000) controller.close();
        else controller.enqueue(chunk);
      },
    });
    return new Reply(body);
  });
  const wire = await dial();
  wire.socket.pause();
  wire.send('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  await sleep(300);
  t.ok(pulled < 900, `${pulled} of 1,000 chunks were made`);
  wire.socket.resume();
  t.equal(await wire.ended, 'end');
  t.equal(pulled, 1_001);
  t.match(wire.text().slice(-20), /\r\n0\r\n\r\n$/);
});

t.test("a handler's request aborts when the client disconnects, and later writes are dropped", async (t) => {
  const left = Promise.withResolvers<string>();
  const dial = await served(t, async (request) => {
    const { signal } = request;
    t.notOk(signal.aborted);
    await once(signal, 'abort');
    left.resolve(signal.reason.code);
    return new Reply('too late');
  });
  const wire = await dial();
  wire.send('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await sleep(20);
  wire.socket.destroy();
  t.equal(await left.promise, 'client_closed_request');
});

t.test('a client that pipelines requests without reading responses is paused', async (t) => {
  let handled = 0;
  const dial = await served(t, async () => {
    handled += 1;
    await sleep(1_000);
    return new Reply('x');
  });
  const wire = await dial();
  const request = Buffer.from(`GET / HTTP/1.1\r\nhost: x\r\nx-fill: ${'x'.repeat(8_000)}\r\n\r\n`);
  let sent = 0;
  while (sent < 5_000 && wire.socket.write(request)) sent += 1;
  await sleep(300);
  t.equal(handled, 1, 'one is handled at a time');
  t.ok(wire.socket.writableLength > 0 || sent < 5_000, 'and the rest waits at the client');
});

t.test('any bytes get a response or end their connection, and other connections are served', async (t) => {
  const dial = await served(t, echo);
  const valid = asked.map((request) => Buffer.from(written(request), 'latin1'));
  const damaged = fc
    .tuple(
      valid,
      fc.array(fc.tuple(fc.nat({ max: 400 }), fc.integer({ min: 0, max: 255 })), {
        minLength: 1,
        maxLength: 4,
      }),
    )
    .map(([bytes, changes]) => {
      for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
      return bytes;
    });
  const property = fc.asyncProperty(fc.oneof(damaged, fc.uint8Array({ maxLength: 200 })), async (bytes) => {
    const wire = await dial();
    wire.send(bytes);
    wire.socket.end();
    t.equal(await wire.ended, 'end');
    t.match(wire.text(), /^(HTTP\/1\.1 [2-5]\d\d |$)/);
    wire.socket.destroy();
  });
  await fc.assert(property, { numRuns: 500 });
  const wire = await dial();
  wire.send('GET /still HTTP/1.1\r\nhost: x\r\n\r\n');
  await wire.until('["GET","/still",1,""]');
});
