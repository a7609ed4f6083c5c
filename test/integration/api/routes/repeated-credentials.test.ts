import fc from 'fast-check';
import t from 'tap';
import { startTestApi } from '../../../support/api.ts';
import { rawCall } from '../../../support/raw-call.ts';
import { repeatedCredentials } from '../../../support/repeated-credentials.ts';

const api = await startTestApi(t);

const PATHS = ['/v1/request/query', '/v1/evaluator/query', '/v1/log/request'];
const JSON_TYPE = ['content-type', 'application/json'];

t.test('a call of the API with a credential header in several lines is a 400', async (t) => {
  const property = fc.asyncProperty(
    fc.constantFrom(...PATHS),
    repeatedCredentials(api.own.key),
    async (path, { name, lines }) => {
      const { status, text } = await rawCall(`${api.url}${path}`, [...JSON_TYPE, ...lines], '{}');
      const { data, error } = JSON.parse(text);
      t.same([status, data], [400, null], text);
      t.match(error.toLowerCase(), `the header ${name} is given more than once`);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});
