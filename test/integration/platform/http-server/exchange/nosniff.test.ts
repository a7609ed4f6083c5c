import fc from 'fast-check';
import t from 'tap';
import { Reply } from '#platform/http-server/mod.ts';
import { recased } from '../../../../support/raw-call.ts';
import { served } from './wire.ts';

const NAME = 'x-content-type-options';
/** Values of nosniff that a response may already have: none, the same, another, several lines. */
const own = fc.array(
  fc.tuple(fc.array(fc.boolean(), { maxLength: NAME.length }), fc.constantFrom('nosniff', 'none', '')),
  { maxLength: 3 },
);
const kind = fc.constantFrom('text', 'stream', 'web', 'empty', 'unchanged', 'throws', 'bad-header');
const request = fc.constantFrom(
  'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
  'HEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
  'GET / HTTP/1.0\r\n\r\n',
  // Refused by the server itself.
  'hello\r\n\r\n',
  `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(70_000)}\r\n\r\n`,
  'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
);

t.test(
  'every response has nosniff exactly once, whatever the app, a provider or the server sets',
  async (t) => {
    let reply = (): Response => new Reply('');
    const dial = await served(t, () => reply());
    const property = fc.asyncProperty(kind, own, request, async (kind, own, request) => {
      const headers = own.map(([capitals, value]): [string, string] => [recased(NAME, capitals), value]);
      reply = () => {
        switch (kind) {
          case 'text':
            return new Reply('text', { headers });
          case 'stream':
            return new Reply(new Blob(['a', 'b']).stream(), { headers });
          case 'web':
            return new Response('text', { headers });
          case 'empty':
            return new Reply(null, { status: 204, headers });
          case 'unchanged':
            return new Reply(null, { status: 304, headers: [...headers, ['date', 'then']] });
          case 'throws':
            throw new Error('secret');
          default:
            return new Reply('text', { headers: [...headers, ['x-odd', 'a\r\nb']] });
        }
      };
      const wire = await dial();
      wire.send(request);
      t.equal(await wire.ended, 'end');
      const [head = ''] = wire.text().split('\r\n\r\n');
      const said = head.split('\r\n').filter((line) => line.toLowerCase().startsWith(NAME));
      t.same(said, [`${NAME}: nosniff`], `${kind} ${head}`);
      wire.socket.destroy();
    });
    await fc.assert(property, { numRuns: 200 });
  },
);
