import t from 'tap';
import type { CriterionJson } from '#core/contracts/grade.ts';
import { bodyOf, fieldsOf } from '../../../../../dashboard/parts/grades/criterion-fields.ts';

const criterion = (kind: CriterionJson['kind']): CriterionJson => ({
  id: 'c1',
  name: 'Right',
  description: 'Is it true?',
  kind,
  evaluator_id: 'e1',
  created_at: '',
  updated_at: '',
  archived_at: null,
});

t.test('a criterion of each kind is sent as it was read', async (t) => {
  const shared = { name: 'Right', description: 'Is it true?', evaluatorId: 'e1' };
  t.same(bodyOf(fieldsOf(criterion({ type: 'boolean' }))), { ...shared, kind: { type: 'boolean' } });
  const scale = { type: 'scale', min: 1, max: 5, step: 0.5 } as const;
  t.same(bodyOf(fieldsOf(criterion(scale))), { ...shared, kind: scale });
  t.same(bodyOf(fieldsOf(criterion({ ...scale, step: null }))), {
    ...shared,
    kind: { type: 'scale', min: 1, max: 5 },
  });
  const labels = [
    { label: 'wrong', score: 0 },
    { label: 'right', score: null },
  ];
  t.same(bodyOf(fieldsOf(criterion({ type: 'categories', labels }))), {
    ...shared,
    kind: { type: 'categories', labels: [{ label: 'wrong', score: 0 }, { label: 'right' }] },
  });
});

t.test('a criterion without an evaluator says so', async (t) => {
  t.equal(bodyOf({ ...fieldsOf(null), evaluatorId: '' }).evaluatorId, null);
});
