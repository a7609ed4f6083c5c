import { parseWith, quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { MAX_SCORE_KEY_LENGTH, MAX_SCORES, scoreBodyChecker } from '#core/contracts/query.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { Parameters, type Statement } from '#core/filter/mod.ts';

/**
 * Reads `{scores: {key: number | boolean}}`; true becomes 1 and false 0.
 * @throws AssayError invalid_body
 */
export function readScores(value: unknown): Map<string, number> {
  const { scores } = parseWith(scoreBodyChecker, value);
  const count = Object.keys(scores).length;
  if (count < 1 || count > MAX_SCORES) {
    throw new AssayError('invalid_body', `scores must hold 1 to ${MAX_SCORES} scores, but holds ${count}`);
  }
  const read = new Map<string, number>();
  for (const [key, score] of Object.entries(scores)) {
    if (key.length < 1 || key.length > MAX_SCORE_KEY_LENGTH) {
      throw new AssayError(
        'invalid_body',
        `scores[${quoteValue(key)}] must have a name of 1 to ${MAX_SCORE_KEY_LENGTH} characters`,
      );
    }
    read.set(storableText(key), Number(score));
  }
  return read;
}

/**
 * Sets scores of a request, beside those it has: a row for each when there is such a request. In the order of their keys,
 * so that two writers wait for each other instead of locking each other out.
 */
export function scoresStatement(
  organizationId: string,
  requestId: string,
  scores: ReadonlyMap<string, number>,
  at: Date,
): Statement {
  const parameters = new Parameters();
  const keys = parameters.bind([...scores.keys()], 'text[]');
  const values = parameters.bind([...scores.values()].map(String), 'text[]');
  const text = `
    insert into assay.request_scores (organization_id, created_at, request_id, key, value, updated_at)
    select r.organization_id, r.created_at, r.request_id, k.key, k.value, ${parameters.bind(at.toISOString(), 'timestamptz')}
    from assay.requests r cross join unnest(${keys}, ${values}::float8[]) as k(key, value)
    where r.organization_id = ${parameters.bind(organizationId, 'uuid')}
      and r.request_id = ${parameters.bind(requestId, 'text')}
    order by k.key collate "C"
    on conflict (organization_id, created_at, request_id, key)
      do update set value = excluded.value, updated_at = excluded.updated_at,
                    evaluator_id = null, evaluator_version = null
    returning 1`;
  return { text, values: parameters.values };
}
