/** People's grades of responses, by criteria of their organization. */
import { type AgreementOfPeople, createAgreementOfPeople } from './agreement.ts';
import type { Context } from './context.ts';
import { type Criteria, createCriteria } from './criteria.ts';
import { createGrades, type Grades } from './grades.ts';

export type { Caller, Context } from './context.ts';
export { requireLivingCriteria } from './criteria.ts';
export { namesOf, type Person, personOf } from './person.ts';

/** The work behind the routes of `/v1/criterion` and of grades, for one organization at a time. Bodies fit their schema. */
export type GradeService = { criteria: Criteria; grades: Grades; agreement: AgreementOfPeople };

export function createGradeService(context: Context): GradeService {
  return {
    criteria: createCriteria(context),
    grades: createGrades(context),
    agreement: createAgreementOfPeople(context),
  };
}
