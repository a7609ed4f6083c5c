import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import {
  AgreementQueryBody,
  CriterionBody,
  CriterionJson,
  CriterionPatch,
  CriterionQueryBody,
  GradeBody,
  GradeJson,
  GradePageJson,
  GradeQueryBody,
  GradeTakenBack,
  GradeWithHistoryJson,
  PeopleAgreementJson,
} from '#core/contracts/grade.ts';
import type { GradeService } from '../grades/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, parameters, reply, uuids } from './declare.ts';

export type GradeRoutesOptions = { keys: Keys; grades: GradeService };

const TAG = 'Grades';
const criterionId = '3e1f6c0a-2b4d-4f7a-9c55-8d0e6b7a1f20';
const criterion = uuids({ id: 'criterion' });

/** `/v1/criterion…`: what people grade by. */
function criterionRoutes({ keys, grades: { criteria, agreement } }: GradeRoutesOptions) {
  const reading = authorized(keys, 'read', TAG)
    .post('/v1/criterion/query', ({ key, body }) => criteria.query(key.organizationId, body), {
      body: jsonBody(CriterionQueryBody, {}),
      response: reply(Type.Array(CriterionJson)),
      detail: { summary: 'Lists the criteria by which people grade, the newest first' },
    })
    .get('/v1/criterion/:id', ({ key, params }) => criteria.get(key.organizationId, params.id), {
      params: criterion,
      response: reply(CriterionJson),
      detail: { summary: 'Returns one criterion' },
    })
    .post(
      '/v1/criterion/:id/agreement',
      ({ key, params, body }) => agreement(key.organizationId, params.id, body),
      {
        params: criterion,
        body: jsonBody(AgreementQueryBody, { q: 'model:gpt-4o*' }),
        response: reply(PeopleAgreementJson),
        detail: { summary: 'Computes how far the people agree who graded by a criterion' },
      },
    );
  const writing = authorized(keys, 'write', TAG)
    .post('/v1/criterion', ({ key, body }) => criteria.create(key.organizationId, body), {
      body: jsonBody(CriterionBody, {
        name: 'Polite',
        description: 'Would a customer feel well treated?',
        kind: { type: 'boolean' },
      }),
      response: reply(CriterionJson),
      detail: { summary: 'Makes a criterion by which people grade' },
    })
    .patch(
      '/v1/criterion/:id',
      ({ key, params, body }) => criteria.change(key.organizationId, params.id, body),
      {
        params: criterion,
        body: jsonBody(CriterionPatch, { description: 'Would you talk to a guest like this?' }),
        response: reply(CriterionJson),
        detail: { summary: 'Changes a criterion; its kind only while there are no grades' },
      },
    )
    .delete('/v1/criterion/:id', ({ key, params }) => criteria.archive(key.organizationId, params.id), {
      params: criterion,
      response: reply(Type.Null()),
      detail: { summary: 'Archives a criterion: its grades stay, and it takes no others' },
    });
  return new Elysia({ name: 'api/grades/criteria' }).use(reading).use(writing);
}

/** `/v1/request/:id/grade…` and `/v1/grade…`: what people say. */
export function gradeRoutes(options: GradeRoutesOptions) {
  const {
    keys,
    grades: { grades },
  } = options;
  const reading = authorized(keys, 'read', TAG)
    .get('/v1/request/:id/grades', ({ key, params }) => grades.ofRequest(key.organizationId, params.id), {
      response: reply(Type.Array(GradeWithHistoryJson)),
      detail: { summary: "Lists people's grades of a request with the values that they replaced" },
    })
    .post('/v1/grade/query', ({ key, body }) => grades.query(key.organizationId, body), {
      body: jsonBody(GradeQueryBody, { author: 'Ada', q: 'status:200', limit: 20 }),
      response: reply(GradePageJson),
      detail: { summary: "Lists people's grades, those that were given last first" },
    });
  const writing = authorized(keys, 'write', TAG)
    .put('/v1/request/:id/grade', ({ key, params, body }) => grades.set(key, params.id, body), {
      body: jsonBody(GradeBody, { criterionId, value: true, comment: 'Warm and clear', author: 'Ada' }),
      response: reply(GradeJson),
      detail: { summary: 'Grades a request by a criterion, in place of an earlier grade of the same person' },
    })
    .delete('/v1/request/:id/grade', ({ key, params, query }) => grades.remove(key, params.id, query), {
      query: parameters(GradeTakenBack),
      response: reply(Type.Null()),
      detail: { summary: "Takes a person's grade of a request back" },
    });
  return new Elysia({ name: 'api/grades' }).use(criterionRoutes(options)).use(reading).use(writing);
}
