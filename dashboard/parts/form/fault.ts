/** Faults that the API finds in one field of a form. Pure. */
import type { ApiFailure } from '../../client/call.ts';

/** Fault of a field: its name, and the API's sentence. */
export type FieldFault = { field: string; sentence: string };

/**
 * Returns the fault of the field whose name the sentence of a refusal begins with, or that `phrases` recognizes; null: it is about
 * none of these fields.
 * @example findFault(failure, ['rate_limit_policy'], { rate_limit_policy: /policy/ })
 */
export function findFault(
  { status, message }: Pick<ApiFailure, 'status' | 'message'>,
  fields: readonly string[],
  phrases: Readonly<Record<string, RegExp>> = {},
): FieldFault | null {
  if (status !== 400) return null;
  const named = /^"?(\w+)/.exec(message)?.[1];
  const field = fields.find((one) => one === named || phrases[one]?.test(message));
  return field === undefined ? null : { field, sentence: message };
}
