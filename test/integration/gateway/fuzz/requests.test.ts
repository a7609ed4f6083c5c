/** Requests in a provider's own dialect: what it is sent is what the client sent, byte for byte. */
import { strictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { API_ENDPOINTS } from '../../../../gateway/endpoints/endpoint.ts';
import { prepareBody } from '../../../../gateway/providers/prepare-request.ts';
import { createResolver } from '../../../../gateway/providers/resolve.ts';
import { parseRequestBody } from '../../../../gateway/request/body.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { configOf } from '../../../support/world.ts';
import { endpointOf } from './relay-world.ts';
import { type RequestCase, requestBodies, silentOptions } from './request-bodies.ts';
import { sameBytes } from './same-bytes.ts';

/** Nothing is translated here, so nobody waits. */
const ANYONE = { organizationId: 'o', signal: new AbortController().signal };
const config = configOf({ OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-2', MISTRAL_API_KEY: 'sk-3' });
const route = createResolver(config.providers);

async function check(
  surface: (typeof API_ENDPOINTS)[number],
  { sent, expected, model, isStream, hidesUsage }: RequestCase,
) {
  const body = await parseRequestBody(sent, surface);
  strictEqual(body.model, model);
  strictEqual(body.stream, isStream);
  const proposal = await prepareBody(route(model), body, surface, ANYONE);
  strictEqual(proposal.translation, null);
  strictEqual(proposal.hidesUsage, hidesUsage);
  sameBytes(proposal.body, expected);
}

const RUNS = 10_000;

t.test(
  '10,000 random request bodies are sent unchanged, but for the model prefix and include_usage',
  async (t) => {
    const bodies = fc
      .constantFrom(...API_ENDPOINTS)
      .chain((surface) => requestBodies(surface).map((body) => ({ surface, body })));
    await fc.assert(
      fc.asyncProperty(bodies, ({ surface, body }) => check(surface, body)),
      runs(t, RUNS),
    );
  },
);

t.test('include_usage is set in existing stream options, and nothing else of them changes', async (t) => {
  const bodies = fc
    .constantFrom(...API_ENDPOINTS.filter(({ hasUsageOption }) => hasUsageOption))
    .chain((surface) => requestBodies(surface, silentOptions).map((body) => ({ surface, body })));
  await fc.assert(
    fc.asyncProperty(bodies, ({ surface, body }) => check(surface, body)),
    runs(t, RUNS / 5),
  );
});

t.test('a hundred repetitions of a dropped member are removed', async (t) => {
  const surface = endpointOf('chat');
  const repeated = '"stream_options":{},'.repeat(100);
  const body = await parseRequestBody(Buffer.from(`{${repeated}"model":"mistral-small-latest"}`), surface);
  const proposal = await prepareBody(route(body.model), body, surface, ANYONE);
  t.equal(proposal.body.toString(), '{"model":"mistral-small-latest"}');
});
