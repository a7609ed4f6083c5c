import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { PairwiseBody, PairwiseDryRunJson } from '#core/contracts/pairwise.ts';
import {
  DryRunJson,
  EvaluatorChangeBody,
  EvaluatorJson,
  EvaluatorQueryBody,
  EvaluatorRetryBody,
  type EvaluatorService,
  ExternalTestBody,
  ExternalTestJson,
  LlmTestBody,
  LlmTestJson,
  NewEvaluatorBody,
  OnlineEvaluatorBody,
  OnlineEvaluatorJson,
  OnlineEvaluatorPatch,
  PairwiseJson,
  PythonTestBody,
  PythonTestJson,
  RetriedJson,
  RunBody,
  RunJson,
  StatsJson,
  StatsQuery,
  TEST_INPUT_PATHS,
  VersionJson,
  VersionsQuery,
} from '../evaluators/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, jsonBodyAsWritten, parameters, reply, uuids } from './declare.ts';

export type EvaluatorRoutesOptions = { keys: Keys; evaluators: EvaluatorService };

const TAG = 'Evaluators';
const params = uuids({ id: 'evaluator' });
const template = { model: 'gpt-4o-mini', prompt: 'Is {{output}} polite?' };
const testInput = {
  inputBody: { messages: [{ role: 'user', content: 'Hello' }] },
  outputBody: { choices: [{ message: { role: 'assistant', content: 'Good morning!' } }] },
};

/** `/v1/evaluator…`: creates, finds and changes evaluators. */
function definitions({ keys, evaluators: { evaluators, stats } }: EvaluatorRoutesOptions) {
  const reading = authorized(keys, 'read', TAG)
    .post('/v1/evaluator/query', ({ key, body }) => evaluators.query(key.organizationId, body), {
      body: jsonBody(EvaluatorQueryBody, { name: 'polite' }),
      response: reply(Type.Array(EvaluatorJson)),
      detail: { summary: 'Lists evaluators, the newest first' },
    })
    .get('/v1/evaluator', ({ key }) => evaluators.query(key.organizationId, {}), {
      response: reply(Type.Array(EvaluatorJson)),
      detail: { summary: 'Lists all evaluators, the newest first' },
    })
    .get('/v1/evaluator/:id', ({ key, params }) => evaluators.get(key.organizationId, params.id), {
      params,
      response: reply(EvaluatorJson),
      detail: { summary: 'Returns one evaluator' },
    })
    .get('/v1/evaluator/:id/stats', ({ key, params, query }) => stats(key.organizationId, params.id, query), {
      params,
      query: parameters(StatsQuery),
      response: reply(StatsJson),
      detail: { summary: 'Tells what one version of an evaluator did, cost, and can be trusted with' },
    });
  const writing = authorized(keys, 'write', TAG)
    .post('/v1/evaluator', ({ key, body }) => evaluators.create(key.organizationId, body), {
      body: jsonBody(NewEvaluatorBody, {
        name: 'Polite',
        scoring_type: 'LLM-BOOLEAN',
        llm_template: template,
      }),
      response: reply(EvaluatorJson),
      detail: { summary: 'Makes an evaluator' },
    })
    .put(
      '/v1/evaluator/:id',
      ({ key, params, body }) => evaluators.change(key.organizationId, params.id, body),
      {
        params,
        body: jsonBody(EvaluatorChangeBody, { name: 'Very polite' }),
        response: reply(EvaluatorJson),
        detail: { summary: 'Changes an evaluator; another template is a new version' },
      },
    )
    .delete('/v1/evaluator/:id', ({ key, params }) => evaluators.remove(key.organizationId, params.id), {
      params,
      response: reply(Type.Null()),
      detail: { summary: 'Deletes an evaluator; its scores stay' },
    })
    .post('/v1/evaluator/:id/resume', ({ key, params }) => evaluators.resume(key.organizationId, params.id), {
      params,
      response: reply(EvaluatorJson),
      detail: { summary: 'Lets an evaluator that was stopped go on' },
    });
  return new Elysia().use(reading).use(writing);
}

/** The routes of an evaluator's versions, and of its evaluations as a whole. */
function history({ keys, evaluators: { versions, retryAll } }: EvaluatorRoutesOptions) {
  const reading = authorized(keys, 'read', TAG).get(
    '/v1/evaluator/:id/versions',
    ({ key, params, query }) => versions(key.organizationId, params.id, query),
    {
      params,
      query: parameters(VersionsQuery),
      response: reply(Type.Array(VersionJson)),
      detail: { summary: 'Lists the versions of an evaluator with their definitions, the newest first' },
    },
  );
  const writing = authorized(keys, 'write', TAG).post(
    '/v1/evaluator/:id/retry',
    ({ key, params, body }) => retryAll(key.organizationId, params.id, body),
    {
      params,
      body: jsonBody(EvaluatorRetryBody, { states: ['error', 'dead'] }),
      response: reply(RetriedJson),
      detail: { summary: 'Tries all evaluations of an evaluator again that failed or were cancelled' },
    },
  );
  return new Elysia().use(reading).use(writing);
}

/** All of it is parsed here, the variables at once: it has as few values as any body that is, and repeats no names. */
const TRIED_OUT = { asWritten: TEST_INPUT_PATHS, parsesAll: true };

/** `/v1/evaluator/…/test`: tries evaluators out before they are created. */
function tests({ keys, evaluators: { tryOut } }: EvaluatorRoutesOptions) {
  return authorized(keys, 'write', TAG)
    .post('/v1/evaluator/llm/test', ({ key, body }) => tryOut.llm(key.organizationId, body), {
      body: jsonBodyAsWritten(
        LlmTestBody,
        {
          evaluatorConfig: { evaluator_scoring_type: 'LLM-BOOLEAN', evaluator_llm_template: template },
          testInput,
        },
        TRIED_OUT,
      ),
      response: reply(LlmTestJson),
      detail: { summary: 'Tries out a judge; nothing is kept' },
    })
    .post('/v1/evaluator/python/test', ({ key, body }) => tryOut.python(key.organizationId, body), {
      body: jsonBodyAsWritten(
        PythonTestBody,
        {
          code: 'def evaluate(input, output):\n    return len(output)\n',
          testInput,
        },
        TRIED_OUT,
      ),
      response: reply(PythonTestJson),
      detail: { summary: 'Tries out Python in the sandbox; nothing is kept' },
    })
    .post('/v1/evaluator/external/test', ({ key, body }) => tryOut.external(key.organizationId, body), {
      body: jsonBodyAsWritten(
        ExternalTestBody,
        {
          external_config: { adapter: 'http', url: 'https://scores.example.com/score' },
          testInput,
        },
        TRIED_OUT,
      ),
      response: reply(ExternalTestJson),
      detail: { summary: 'Tries out a scoring service; nothing is kept' },
    });
}

/** `/v1/evaluator/:id/onlineEvaluators`: the rules by which an evaluator scores logged requests. */
function onlineEvaluators({ keys, evaluators: { online } }: EvaluatorRoutesOptions) {
  const ofOnline = uuids({ id: 'evaluator', onlineId: 'online evaluator' });
  const reading = authorized(keys, 'read', TAG).get(
    '/v1/evaluator/:id/onlineEvaluators',
    ({ key, params }) => online.list(key.organizationId, params.id),
    {
      params,
      response: reply(Type.Array(OnlineEvaluatorJson)),
      detail: { summary: 'Lists what an evaluator scores as it is logged, the newest first' },
    },
  );
  const writing = authorized(keys, 'write', TAG)
    .post(
      '/v1/evaluator/:id/onlineEvaluators',
      ({ key, params, body }) => online.create(key.organizationId, params.id, body),
      {
        params,
        body: jsonBody(OnlineEvaluatorBody, { config: { sampleRate: 10 } }),
        response: reply(OnlineEvaluatorJson),
        detail: {
          summary: 'Has an evaluator score a share of the requests that are logged from now on',
        },
      },
    )
    .patch(
      '/v1/evaluator/:id/onlineEvaluators/:onlineId',
      ({ key, params, body }) => online.change(key.organizationId, params.id, params.onlineId, body),
      {
        params: ofOnline,
        body: jsonBody(OnlineEvaluatorPatch, { config: { sampleRate: 20 } }),
        response: reply(OnlineEvaluatorJson),
        detail: { summary: 'Changes that for the requests that are logged from now on' },
      },
    )
    .delete(
      '/v1/evaluator/:id/onlineEvaluators/:onlineId',
      ({ key, params }) => online.remove(key.organizationId, params.id, params.onlineId),
      {
        params: ofOnline,
        response: reply(Type.Null()),
        detail: { summary: 'Ends that' },
      },
    );
  return new Elysia().use(writing).use(reading);
}

/** `/v1/evaluator/:id/run…`: the scoring of requests that were logged before. */
function runs({ keys, evaluators: { runs: service } }: EvaluatorRoutesOptions) {
  const ofRun = uuids({ id: 'evaluator', runId: 'run' });
  const reading = authorized(keys, 'read', TAG)
    .get('/v1/evaluator/:id/runs', ({ key, params }) => service.list(key.organizationId, params.id), {
      params,
      response: reply(Type.Array(RunJson)),
      detail: { summary: 'Lists the runs of an evaluator, the newest first' },
    })
    .get(
      '/v1/evaluator/:id/run/:runId',
      ({ key, params }) => service.get(key.organizationId, params.id, params.runId),
      {
        params: ofRun,
        response: reply(RunJson),
        detail: { summary: 'Returns one run and its progress' },
      },
    );
  const writing = authorized(keys, 'write', TAG)
    .post(
      '/v1/evaluator/:id/run',
      ({ key, params, body }) => service.create(key.organizationId, params.id, body),
      {
        params,
        body: jsonBody(RunBody, { filter: 'all', limit: 1_000, dryRun: true }),
        response: reply(Type.Union([RunJson, DryRunJson])),
        detail: { summary: 'Scores requests that pass a filter, or counts them with dryRun' },
      },
    )
    .post(
      '/v1/evaluator/:id/run/:runId/pause',
      ({ key, params }) => service.pause(key.organizationId, params.id, params.runId),
      { params: ofRun, response: reply(RunJson), detail: { summary: 'Pauses a run' } },
    )
    .post(
      '/v1/evaluator/:id/run/:runId/resume',
      ({ key, params }) => service.resume(key.organizationId, params.id, params.runId),
      { params: ofRun, response: reply(RunJson), detail: { summary: 'Lets a paused run go on' } },
    )
    .post(
      '/v1/evaluator/:id/run/:runId/cancel',
      ({ key, params }) => service.cancel(key.organizationId, params.id, params.runId),
      { params: ofRun, response: reply(RunJson), detail: { summary: 'Ends a run early' } },
    );
  return new Elysia().use(reading).use(writing);
}

/** `/v1/evaluator/:id/pairwise…`: the judging of the pairs of two experiments. */
function pairwise({ keys, evaluators: { pairwise: service } }: EvaluatorRoutesOptions) {
  const reading = authorized(keys, 'read', TAG).get(
    '/v1/evaluator/:id/pairwise/:runId',
    ({ key, params }) => service.get(key.organizationId, params.id, params.runId),
    {
      params: uuids({ id: 'evaluator', runId: 'run' }),
      response: reply(PairwiseJson),
      detail: { summary: 'Returns the progress of a run over pairs, and its win rate so far' },
    },
  );
  const writing = authorized(keys, 'write', TAG).post(
    '/v1/evaluator/:id/pairwise',
    ({ key, params, body }) => service.create(key.organizationId, params.id, body),
    {
      params,
      body: jsonBody(PairwiseBody, {
        baseline: 'b11f3c52-2f0e-4d19-8a4e-5b7c1e9d0f63',
        candidate: 'c21f3c52-2f0e-4d19-8a4e-5b7c1e9d0f63',
        dryRun: true,
      }),
      response: reply(Type.Union([RunJson, PairwiseDryRunJson])),
      detail: {
        summary:
          'Judges the answers of two experiments in pairs, in both orders, or only estimates with dryRun',
      },
    },
  );
  return new Elysia().use(reading).use(writing);
}

/** The routes of `/v1/evaluator`. */
export function evaluatorRoutes(options: EvaluatorRoutesOptions) {
  return new Elysia({ name: 'api/evaluators' })
    .use(definitions(options))
    .use(history(options))
    .use(tests(options))
    .use(onlineEvaluators(options))
    .use(runs(options))
    .use(pairwise(options));
}
