/** The source of a queue's items: the fields of the form, the body made of them, and a stored source in words. Pure. */
import type { Source } from '#core/contracts/review.ts';
import { filterText } from '../../parts/formats/filters.ts';
import { plural } from '../../parts/formats/numbers.ts';

export const FILLINGS = [
  { name: 'filter', label: 'All requests of a filter, at most 10,000' },
  { name: 'sample', label: 'A sample of the requests of a filter' },
  { name: 'disagreement', label: 'Requests of which an evaluator and people disagree' },
] as const;
export type Filling = (typeof FILLINGS)[number]['name'];

export type SourceFields = { filling: Filling; q: string; n: string; seed: string; evaluatorId: string };

export const FIRST_SOURCE: SourceFields = { filling: 'sample', q: '', n: '100', seed: '1', evaluatorId: '' };

/** Returns the source that the fields describe. A number that is none is sent for the API to refuse. */
export function sourceOf({ filling, q, n, seed, evaluatorId }: SourceFields): Source {
  const sample = n.trim() === '' ? {} : { sample: { n: Number(n), seed: Number(seed) } };
  switch (filling) {
    case 'filter':
      return { q };
    case 'sample':
      return { q, ...sample };
    case 'disagreement':
      return { disagreement: { evaluatorId }, ...sample };
  }
}

/** A source as the API shows it: ids are a number. */
type ShownSource = Omit<Partial<Source>, 'requestIds'> & { requestIds?: number };

function requestsText({ q, filter, requestIds, disagreement }: ShownSource): string {
  if (requestIds !== undefined) return plural(requestIds, 'named request');
  if (disagreement !== undefined) return 'requests with disagreement';
  const text = q ?? filterText(filter ?? null);
  return text === '' ? 'all requests' : text;
}

/**
 * Returns the source of a queue in words.
 * @example sourceText({ q: 'status:200', sample: { n: 100, seed: 1 } }) // '100 of status:200'
 */
export function sourceText(source: unknown): string {
  const shown = source as ShownSource;
  const requests = requestsText(shown);
  return shown.sample === undefined ? requests : `${shown.sample.n} of ${requests}`;
}
