import t from 'tap';
import type { CriterionJson, GradeWithHistoryJson } from '#core/contracts/grade.ts';
import {
  changesOf,
  fieldOf,
  firstMissing,
  isGraded,
} from '../../../../../dashboard/pages/review-queue/draft.ts';

const criterion = (id: string, kind: CriterionJson['kind'] = { type: 'boolean' }): CriterionJson => ({
  id,
  name: id,
  description: '',
  kind,
  evaluator_id: null,
  created_at: '',
  updated_at: '',
  archived_at: null,
});
const grade = (criterion_id: string, value: boolean, comment: string | null = null) =>
  ({ criterion_id, value, comment }) as GradeWithHistoryJson;

const CRITERIA = [criterion('a'), criterion('b', { type: 'scale', min: 0, max: 1, step: null })];

t.test('a field shows what was written, else what is stored', async (t) => {
  const stored = [grade('a', true, 'Why')];
  t.same(fieldOf('a', {}, stored), { value: true, comment: 'Why' });
  t.same(fieldOf('a', { a: { value: false, comment: '' } }, stored), { value: false, comment: '' });
  t.same(fieldOf('b', {}, stored), { value: null, comment: '' });
});

t.test('a criterion without a value is missing, and one with a value that is none of its own', async (t) => {
  t.equal(firstMissing(CRITERIA, {}, []), 0);
  t.equal(firstMissing(CRITERIA, {}, [grade('a', true)]), 1);
  t.equal(
    firstMissing(CRITERIA, { b: { value: 2, comment: '' } }, [grade('a', true)]),
    1,
    'out of its scale',
  );
  t.equal(firstMissing(CRITERIA, { b: { value: 0.5, comment: '' } }, [grade('a', true)]), null);
});

t.test('a request is graded by what is stored, not by what is written', async (t) => {
  t.equal(isGraded(CRITERIA, [grade('a', true)]), false);
  t.equal(isGraded(CRITERIA, [grade('a', true), grade('b', true)]), true);
});

t.test('grades that differ from the stored ones are sent, and no comment without a value', async (t) => {
  const stored = [grade('a', true, 'Why')];
  t.same(changesOf({ a: { value: true, comment: 'Why' } }, stored), []);
  t.same(changesOf({ a: { value: true, comment: '' } }, stored), [
    { criterionId: 'a', value: true, comment: '' },
  ]);
  t.same(changesOf({ b: { value: null, comment: 'Half' } }, stored), []);
});
