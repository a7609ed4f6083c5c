import { variableLookup } from '#core/contracts/external.ts';
import type { Subject } from '#core/scoring/mod.ts';
import { ExternalFailure } from './failure.ts';

/**
 * Returns the value that an answer is compared with, from the evaluator's config or from the record; undefined when the
 * evaluator compares with nothing.
 * @throws ExternalFailure when the record does not have the value
 */
export function expectedValueOf(
  config: { expected?: unknown; expectedFrom?: string },
  subject: Subject,
): unknown {
  if (config.expectedFrom === undefined) return config.expected;
  const value = variableLookup(config.expectedFrom)(subject);
  if (value !== undefined && value !== null) return value;
  throw new ExternalFailure(
    'ext_not_applicable',
    `The request has no ${config.expectedFrom} to compare the answer with`,
  );
}
