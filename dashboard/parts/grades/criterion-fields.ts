/** The fields of a criterion as texts, and the body that they become. Pure. */
import type { CriterionBody, CriterionJson } from '#core/contracts/grade.ts';
import type { Kind } from '#core/grades/mod.ts';
import type { LabelField } from '../form/label-fields.tsx';

export type CriterionFields = {
  name: string;
  description: string;
  type: Kind['type'];
  min: string;
  max: string;
  step: string;
  labels: LabelField[];
  /** Empty: none. */
  evaluatorId: string;
};

const EMPTY: CriterionFields = {
  name: '',
  description: '',
  type: 'boolean',
  min: '1',
  max: '5',
  step: '1',
  labels: [
    { key: 0, label: 'wrong', score: '0' },
    { key: 1, label: 'right', score: '1' },
  ],
  evaluatorId: '',
};

function kindFields(kind: Kind): Partial<CriterionFields> {
  switch (kind.type) {
    case 'boolean':
      return {};
    case 'scale':
      return {
        min: String(kind.min),
        max: String(kind.max),
        step: kind.step === null ? '' : String(kind.step),
      };
    case 'categories':
      return {
        labels: kind.labels.map(({ label, score }, key) => ({
          key,
          label,
          score: score === null ? '' : String(score),
        })),
      };
  }
}

/** Returns the fields of a criterion; null: of a new one. */
export function fieldsOf(criterion: CriterionJson | null): CriterionFields {
  if (criterion === null) return EMPTY;
  const { name, description, kind, evaluator_id } = criterion;
  return {
    ...EMPTY,
    name,
    description,
    type: kind.type,
    ...kindFields(kind),
    evaluatorId: evaluator_id ?? '',
  };
}

function kindOf({ type, min, max, step, labels }: CriterionFields): CriterionBody['kind'] {
  switch (type) {
    case 'boolean':
      return { type };
    case 'scale':
      return { type, min: Number(min), max: Number(max), ...(step.trim() !== '' && { step: Number(step) }) };
    case 'categories':
      return {
        type,
        labels: labels.map(({ label, score }) => ({
          label,
          ...(score.trim() !== '' && { score: Number(score) }),
        })),
      };
  }
}

/** Returns the body that makes a criterion of the fields, or changes one to them. */
export function bodyOf(fields: CriterionFields): CriterionBody {
  const { name, description, evaluatorId } = fields;
  return { name, description, kind: kindOf(fields), evaluatorId: evaluatorId === '' ? null : evaluatorId };
}
