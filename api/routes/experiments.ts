import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { CompareBody, ComparisonJson } from '#core/contracts/comparison.ts';
import {
  ExperimentBody,
  ExperimentJson,
  ExperimentListJson,
  ExperimentQueryBody,
  ExperimentRunJson,
  ExperimentRunsBody,
  ExperimentRunsJson,
} from '#core/contracts/experiment.ts';
import { ExperimentEstimateJson } from '#core/contracts/experiment-estimate.ts';
import { OutputBody } from '#core/contracts/experiment-output.ts';
import { GateBody, GateJson } from '#core/contracts/gate.ts';
import type { ExperimentService } from '../experiments/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, reply, uuids } from './declare.ts';

export type ExperimentRoutesOptions = { keys: Keys; experiments: ExperimentService };

const TAG = 'Experiments';
const params = uuids({ id: 'experiment' });
const datasetId = '0c3f7a52-6f7e-4b58-9f0e-0f6a3d1c2b10';
const baseline = 'b11f3c52-2f0e-4d19-8a4e-5b7c1e9d0f63';
const recorded = 'd31f3c52-2f0e-4d19-8a4e-5b7c1e9d0f63';
const candidate = 'c21f3c52-2f0e-4d19-8a4e-5b7c1e9d0f63';
const example = {
  name: 'Refunds on the small model',
  datasetId,
  datasetVersion: 1,
  target: { kind: 'model' as const, model: 'gpt-4o-mini', parameters: { temperature: 0 } },
  evaluatorIds: ['a81f3c52-2f0e-4d19-8a4e-5b7c1e9d0f63'],
  repetitions: 1,
  maxCost: 5,
};

/** `/v1/experiment…`: answers of a target to the items of a dataset, graded. */
export function experimentRoutes({ keys, experiments }: ExperimentRoutesOptions) {
  const response = reply(ExperimentJson);
  const reading = authorized(keys, 'read', TAG)
    .get('/v1/experiment/:id', ({ key, params: { id } }) => experiments.get(key.organizationId, id), {
      params,
      response,
      detail: { summary: 'Returns one experiment with its progress' },
    })
    .post('/v1/experiment/query', ({ key, body }) => experiments.query(key.organizationId, body), {
      body: jsonBody(ExperimentQueryBody, { datasetId, limit: 20 }),
      response: reply(ExperimentListJson),
      detail: { summary: 'Lists experiments, the newest first' },
    })
    .post('/v1/experiment/compare', ({ key, body }) => experiments.compare(key.organizationId, body), {
      body: jsonBody(CompareBody, { baseline, candidates: [candidate], margin: 0.02 }),
      response: reply(ComparisonJson),
      detail: {
        summary: 'Compares experiments with a baseline, item by item: intervals, p values and verdicts',
      },
    })
    .post(
      '/v1/experiment/:id/gate',
      ({ key, params: { id }, body }) => experiments.gate(key.organizationId, id, body),
      {
        params,
        body: jsonBody(GateBody, { rules: ['cost <= 1.1x', 'errors = 0'], baseline: recorded }),
        response: reply(GateJson),
        detail: {
          summary: 'Holds an experiment that has ended against rules, by its comparison with a baseline',
        },
      },
    )
    .post(
      '/v1/experiment/:id/runs',
      ({ key, params: { id }, body }) => experiments.runs(key.organizationId, id, body),
      {
        params,
        body: jsonBody(ExperimentRunsBody, { state: 'error', limit: 50 }),
        response: reply(ExperimentRunsJson),
        detail: { summary: 'Lists the runs of an experiment, in their order' },
      },
    );
  const writing = authorized(keys, 'write', TAG)
    .post('/v1/experiment', ({ key, body }) => experiments.create(key, body), {
      body: jsonBody(ExperimentBody, example),
      response: reply(Type.Union([ExperimentJson, ExperimentEstimateJson])),
      detail: { summary: 'Makes an experiment and starts it, or tells with dryRun what it would take' },
    })
    .post(
      '/v1/experiment/:id/output',
      ({ key, params: { id }, body }) => experiments.postOutput(key, id, body),
      {
        params,
        body: jsonBody(OutputBody, { externalId: 'refund-17', response: 'Yes, within 30 days.' }),
        response: reply(ExperimentRunJson),
        detail: { summary: 'Takes the answer of one run of an experiment whose target is external' },
      },
    )
    .post(
      '/v1/experiment/:id/pause',
      ({ key, params: { id } }) => experiments.pause(key.organizationId, id),
      {
        params,
        response,
        detail: { summary: 'Pauses an experiment: calls under way end, no more are made' },
      },
    )
    .post(
      '/v1/experiment/:id/resume',
      ({ key, params: { id } }) => experiments.resume(key.organizationId, id),
      {
        params,
        response,
        detail: { summary: 'Resumes a paused experiment' },
      },
    )
    .post(
      '/v1/experiment/:id/cancel',
      ({ key, params: { id } }) => experiments.cancel(key.organizationId, id),
      {
        params,
        response,
        detail: { summary: 'Ends an experiment early; the answers that it has stay' },
      },
    );
  return new Elysia({ name: 'api/experiments' }).use(reading).use(writing);
}
