/** Every documented route with random calls: what its schemas describe, and what breaks them in one place. */
import fc from 'fast-check';
import t from 'tap';
import type { DocumentedRoute, JsonSchema } from '#core/contracts/openapi.ts';
import { apiRoutes } from '../../../support/api-contract.ts';
import { type ApiExamples, seedExamples } from '../../../support/api-examples.ts';
import { type EvaluatorApi, startEvaluatorApi } from '../../../support/evaluators-process.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { valuesNear } from '../../../support/schema-arbitrary.ts';

let api: EvaluatorApi;
let examples: ApiExamples;
t.before(async () => {
  api = await startEvaluatorApi(t);
  examples = await seedExamples(api);
});

/** What is deleted is needed by the others. */
const ORDER = ['PUT', 'PATCH', 'POST', 'GET', 'DELETE'];
const orderOf = ({ method, path }: DocumentedRoute) =>
  path === '/v1/request/delete' ? ORDER.length : ORDER.indexOf(method);
/** A trial takes a process, the playground a gateway, MCP has messages of its own, and log-in takes ten calls a minute from pages only. */
const LEFT_OUT = /\/test$|^\/mcp$|^\/v1\/(?:log(?:in|out)|playground)$/;
const routes = apiRoutes
  .filter(({ path }) => !LEFT_OUT.test(path))
  .toSorted((one, other) => orderOf(one) - orderOf(other));

const ODD_IDS = [
  'unknown',
  '0',
  '-1',
  '99999999999999999999',
  '00000000-0000-0000-0000-000000000000',
  'a b',
  'a/b',
  '..',
  '%',
  '😀',
  'a\u0000b',
  "'",
  'x'.repeat(3_000),
];

function queriesOf(shape: JsonSchema | undefined): fc.Arbitrary<string> {
  const properties = (shape?.properties ?? {}) as Record<string, JsonSchema>;
  const names = Object.keys(properties);
  if (names.length === 0) return fc.constant('');
  const value = (name: string) =>
    valuesNear(properties[name]!, undefined).map((one) => `${one}`.slice(0, 2_000));
  const some = fc
    .record(Object.fromEntries(names.map((name) => [name, value(name)])), { requiredKeys: [] })
    .map((given) => `?${new URLSearchParams(given as Record<string, string>)}`);
  return fc.oneof(fc.constant(''), some);
}

for (const route of routes) {
  const { method, path, hooks } = route;
  t.test(
    `${method} ${path} answers any call as it declares, and never with a fault of its own`,
    async (t) => {
      const body =
        hooks.body === undefined
          ? fc.constant(undefined)
          : valuesNear(hooks.body.shape, examples.exampleOf(route));
      const target = examples.pathOf(method, path);
      let successes = 0;
      // A path may come with the parameters that it needs.
      const query = target.includes('?') ? fc.constant('') : queriesOf(hooks.query?.shape);
      const calls = fc.tuple(query, body);
      const property = fc.asyncProperty(calls, async ([query, given]) => {
        // The client of these tests holds the answer against what the route declares.
        const { status, text } = await api.call(target + query, {
          method,
          ...(given === undefined ? {} : { body: given }),
        });
        if (status === 200) successes += 1;
        if (status >= 500) throw new Error(`${status} ${text}`);
      });
      const { numRuns, seed } = runs(t, hooks.body === undefined ? 20 : 300);
      await fc.assert(property, { numRuns, seed });
      t.ok(successes > 0 || method === 'DELETE', `${successes} of ${numRuns} calls succeeded`);
    },
  );
}

t.test('an id that cannot be one is unknown to every route, or refused', async (t) => {
  // Any text is a name of a property.
  const named = routes.filter(({ path }) => path.includes('/:') && !path.includes('/:key'));
  // Together: a request that is not there is waited for.
  const answers = await Promise.all(
    named.flatMap(({ method, path, hooks }) =>
      ODD_IDS.map(async (id) => {
        const target = path.replaceAll(/:\w+/g, encodeURIComponent(id));
        const { example } = hooks.body ?? {};
        const body = example === undefined ? {} : { body: example };
        return { what: `${method} ${target}`, ...(await api.call(target, { method, ...body })) };
      }),
    ),
  );
  for (const { what, status } of answers)
    t.ok(status === 404 || status === 400 || status === 405, `${what} ${status}`);
});
