/** Agreement of people who graded the same requests. */
import { AssayError } from '#core/contracts/errors.ts';
import { filterOf } from '#core/contracts/filter-or-q.ts';
import {
  type AgreementQueryBody,
  MAX_AGREEMENT_GRADES,
  MAX_SCALE_VALUES,
  type PeopleAgreementJson,
} from '#core/contracts/grade.ts';
import type { Kind } from '#core/grades/mod.ts';
import { type Agreement, cohensKappa, fleissKappa, krippendorffAlpha } from '#core/statistics/mod.ts';
import { inOrganization } from '#platform/postgres/mod.ts';
import { readQuery } from '../requests/mod.ts';
import type { Context } from './context.ts';
import { requireCriterion } from './criteria.ts';
import { listRatings, type Rating } from './grade-store.ts';

type Coefficient = PeopleAgreementJson['cohens_kappa'];

const undefinedBecause = (reason: string): Agreement => ({ value: null, reason });

function coefficient(agreement: Agreement): Coefficient {
  return agreement.value === null ? agreement : { value: agreement.value, reason: null };
}

/** Returns the categories that kappa tells apart, in order; null on a scale without steps. */
function categoriesOf(kind: Kind): number[] | null {
  if (kind.type === 'boolean') return [0, 1];
  if (kind.type === 'categories') return kind.labels.map((_, code) => code);
  const { min, max, step } = kind;
  if (step === null) return null;
  return Array.from({ length: Math.round((max - min) / step) + 1 }, (_, steps) => min + steps * step);
}

/** Returns the place of the category that is next to a grade: those of a scale are computed, and may be off by a rounding. */
function placeOf(categories: readonly number[], value: number): number {
  const [first, second] = categories as [number, number];
  return Math.round((value - first) / (second - first));
}

function cohen(kind: Kind, items: readonly Rating[][], raters: readonly string[]): Agreement {
  if (raters.length !== 2) return undefinedBecause(`it is of two people, and ${raters.length} graded`);
  const categories = categoriesOf(kind);
  if (categories === null) return undefinedBecause('a scale without steps has no categories: see alpha');
  const table = categories.map(() => categories.map(() => 0));
  for (const ratings of items) {
    const [one, other] = raters.map((rater) => ratings.find(({ person }) => person === rater));
    if (one === undefined || other === undefined) continue;
    table[placeOf(categories, one.value)]![placeOf(categories, other.value)]! += 1;
  }
  return cohensKappa(table, kind.type === 'scale' ? 'quadratic' : 'none');
}

function fleiss(kind: Kind, items: readonly Rating[][]): Agreement {
  if (kind.type === 'scale')
    return undefinedBecause('it does not know how far apart grades on a scale are: see alpha');
  const none = categoriesOf(kind)!.map(() => 0);
  return fleissKappa(
    items.map((ratings) => {
      const counts = [...none];
      for (const { value } of ratings) counts[value]! += 1;
      return counts;
    }),
  );
}

function alpha(kind: Kind, items: readonly Rating[][]): Agreement {
  const values = new Set(items.flat().map(({ value }) => value));
  if (kind.type === 'scale' && values.size > MAX_SCALE_VALUES)
    return undefinedBecause(`people used more than ${MAX_SCALE_VALUES} different values of the scale`);
  return krippendorffAlpha(
    items.map((ratings) => ratings.map(({ value }) => value)),
    kind.type === 'scale' ? 'interval' : 'nominal',
  );
}

/** Computes how far grades agree. */
function peopleAgreement(kind: Kind, ratings: readonly Rating[]): PeopleAgreementJson {
  const items = [...Map.groupBy(ratings, ({ request_id }) => request_id).values()];
  const raters = [...new Set(ratings.map(({ person }) => person))];
  return {
    requests: items.length,
    multiply_graded: items.filter(({ length }) => length > 1).length,
    raters: raters.length,
    grades: ratings.length,
    level: kind.type === 'scale' ? 'interval' : 'nominal',
    cohens_kappa: coefficient(cohen(kind, items, raters)),
    fleiss_kappa: coefficient(fleiss(kind, items)),
    krippendorffs_alpha: coefficient(alpha(kind, items)),
  };
}

/** Returns how far people agree by a criterion, over the requests of a filter. */
export type AgreementOfPeople = (
  organizationId: string,
  criterionId: string,
  body: AgreementQueryBody,
) => Promise<PeopleAgreementJson>;

/** @throws AssayError not_found, invalid_filter, invalid_body when there are more grades than it computes with */
export function createAgreementOfPeople({ sql }: Pick<Context, 'sql'>): AgreementOfPeople {
  return async (organizationId, criterionId, body) => {
    const requests = readQuery({ filter: filterOf(body, { otherwise: 'all' }) });
    const limit = MAX_AGREEMENT_GRADES + 1;
    const wanted = { criterionId, author: null, beforeId: null, requests, limit };
    const { kind, ratings } = await inOrganization(sql, organizationId, async (tx) => {
      const criterion = await requireCriterion(tx, organizationId, criterionId);
      return { kind: criterion.kind, ratings: await listRatings(tx, organizationId, wanted) };
    });
    if (ratings.length < limit) return peopleAgreement(kind, ratings);
    throw new AssayError(
      'invalid_body',
      `The filter must find requests with at most ${MAX_AGREEMENT_GRADES} grades, but finds more`,
    );
  };
}
