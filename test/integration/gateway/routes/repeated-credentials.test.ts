import fc from 'fast-check';
import t from 'tap';
import { startTestGateway } from '../../../support/gateway.ts';
import { rawCall } from '../../../support/raw-call.ts';
import { repeatedCredentials } from '../../../support/repeated-credentials.ts';

const gateway = await startTestGateway(t);

const BODY = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] });
const JSON_TYPE = ['content-type', 'application/json'];

t.test('a call with a repeated credential header is a 400 in the error format of its endpoint', async (t) => {
  const surfaces = fc.constantFrom('/v1/chat/completions', '/v1/responses', '/v1/messages');
  const property = fc.asyncProperty(
    surfaces,
    repeatedCredentials(gateway.key),
    async (path, { name, lines }) => {
      const { status, text } = await rawCall(`${gateway.url}${path}`, [...JSON_TYPE, ...lines], BODY);
      const { type, error } = JSON.parse(text);
      t.equal(status, 400, text);
      t.match(error.message.toLowerCase(), `the header ${name} is given more than once`);
      if (path === '/v1/messages') t.same([type, error.type], ['error', 'invalid_request_error']);
      else t.same([error.code, error.param], ['invalid_header', null]);
    },
  );
  await fc.assert(property, { numRuns: 60 });
  t.equal(gateway.provider.requests.length, 0, 'no provider hears of such a call');
});

t.test('a call with different credential headers, each in one line, is answered', async (t) => {
  const lines = ['Service-Auth', `Bearer ${gateway.key}`, 'Authorization', 'Bearer sk-own', 'X-Api-Key', 'x'];
  const { status } = await rawCall(`${gateway.url}/v1/chat/completions`, [...JSON_TYPE, ...lines], BODY);
  t.equal(status, 200);
});
