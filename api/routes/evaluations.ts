import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ImportedJson, JudgmentsBody } from '#core/contracts/judgment.ts';
import { EvaluationJson, EvaluationQueryBody, type EvaluatorService } from '../evaluators/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, reply, uuids, wholeId } from './declare.ts';

export type EvaluationRoutesOptions = {
  keys: Keys;
  evaluators: Pick<EvaluatorService, 'evaluations' | 'importJudgments'>;
};

const TAG = 'Evaluations';

/** `/v1/evaluation…`: single evaluations, and those that were made elsewhere. */
export function evaluationRoutes({
  keys,
  evaluators: { evaluations, importJudgments },
}: EvaluationRoutesOptions) {
  const one = { params: wholeId('evaluation'), response: reply(EvaluationJson) };
  const reading = authorized(keys, 'read', TAG)
    .post('/v1/evaluation/query', ({ key, body }) => evaluations.query(key.organizationId, body), {
      body: jsonBody(EvaluationQueryBody, { state: 'error', limit: 10 }),
      response: reply(Type.Array(EvaluationJson)),
      detail: { summary: 'Lists evaluations, the newest first, a page at a time' },
    })
    .get('/v1/evaluation/:id', ({ key, params }) => evaluations.get(key.organizationId, params.id), {
      ...one,
      detail: { summary: 'Returns one evaluation' },
    });
  const writing = authorized(keys, 'write', TAG)
    .post('/v1/evaluation/:id/retry', ({ key, params }) => evaluations.retry(key.organizationId, params.id), {
      ...one,
      detail: { summary: 'Tries an evaluation again that failed or was cancelled' },
    })
    .post(
      '/v1/evaluation/:id/cancel',
      ({ key, params }) => evaluations.cancel(key.organizationId, params.id),
      {
        ...one,
        detail: { summary: 'Cancels an evaluation that has not begun' },
      },
    )
    .post(
      '/v1/evaluator/:id/evaluations',
      ({ key, params, body }) => importJudgments(key.organizationId, params.id, body),
      {
        params: uuids({ id: 'evaluator' }),
        body: jsonBody(JudgmentsBody, EXAMPLE),
        response: reply(ImportedJson),
        detail: { summary: 'Imports judgments that were made elsewhere, as evaluations of this evaluator' },
      },
    );
  return new Elysia({ name: 'api/evaluations' }).use(reading).use(writing);
}

const EXAMPLE: JudgmentsBody = {
  evaluations: [
    {
      requestId: '01M7ZEX8RJ6H22F60R3331M4M5',
      score: 1,
      reasoning: 'It names the capital.',
      evaluatedAt: '2026-11-22T12:00:00.000Z',
    },
  ],
};
