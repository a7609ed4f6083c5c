import { lookupOf } from '#core/contracts/external.ts';
import type { Subject } from '#core/scoring/mod.ts';
import { ExternalFailure } from './failure.ts';

/**
 * What an answer is compared with: a value of the evaluator's, or of the record's. Undefined when the evaluator compares
 * with nothing.
 * @throws ExternalFailure when the record does not have it
 */
export function expectationOf(
  config: { expected?: unknown; expectedFrom?: string },
  subject: Subject,
): unknown {
  if (config.expectedFrom === undefined) return config.expected;
  const value = lookupOf(config.expectedFrom)(subject);
  if (value !== undefined && value !== null) return value;
  throw new ExternalFailure(
    'ext_not_applicable',
    `The request has no ${config.expectedFrom} to compare the answer with`,
  );
}
