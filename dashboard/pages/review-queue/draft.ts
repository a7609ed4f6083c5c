/** The grades of one request as a person gives them: what is written, what is stored, and what of it is to be sent. Pure. */
import type { CriterionJson, GradeWithHistoryJson } from '#core/contracts/grade.ts';
import type { GradeValue } from '#core/grades/mod.ts';
import { type GradeDraft, ruleOf } from '../../parts/grades/values.ts';

/** The values that were written, by criterion. One that was not touched is as it is stored. */
export type Draft = Readonly<Record<string, GradeDraft>>;

/** A person's own grades of the request. */
export type Stored = readonly GradeWithHistoryJson[];

/** Returns what a criterion's fields show. */
export function fieldOf(criterionId: string, draft: Draft, stored: Stored): GradeDraft {
  const kept = stored.find(({ criterion_id }) => criterion_id === criterionId);
  return draft[criterionId] ?? { value: kept?.value ?? null, comment: kept?.comment ?? '' };
}

/** Returns the place of the first criterion that has no value, or one that the API would refuse; null: there is none. */
export function firstMissing(
  criteria: readonly CriterionJson[],
  draft: Draft,
  stored: Stored,
): number | null {
  const at = criteria.findIndex((criterion) => {
    const field = fieldOf(criterion.id, draft, stored);
    return field.value === null || ruleOf(criterion.kind, field) !== null;
  });
  return at === -1 ? null : at;
}

/** Returns whether a person has graded the request by all criteria. */
export function isGraded(criteria: readonly CriterionJson[], stored: Stored): boolean {
  return criteria.every(({ id }) => stored.some(({ criterion_id }) => criterion_id === id));
}

export type Change = { criterionId: string; value: GradeValue; comment: string };

/** Returns the grades to send: those that were written, and differ from the stored ones. */
export function changesOf(draft: Draft, stored: Stored): Change[] {
  return Object.entries(draft).flatMap(([criterionId, { value, comment }]) => {
    const kept = stored.find(({ criterion_id }) => criterion_id === criterionId);
    const isSame = kept?.value === value && (kept?.comment ?? '') === comment;
    return value === null || isSame ? [] : [{ criterionId, value, comment }];
  });
}
