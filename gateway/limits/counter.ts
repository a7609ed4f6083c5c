/** The counter that a call uses under its policy. */
import { createHash } from 'node:crypto';
import { AssayError } from '#core/contracts/errors.ts';
import type { Policy } from '#core/rate-limit/mod.ts';
import type { Counter } from '#platform/limiter/mod.ts';
import type { CallHeaders } from '../request/call.ts';

const USER = 'user';
/** Characters of a value that is counted as it is. A longer one is counted by its hash: thousands of values are kept in memory. */
const LONGEST_VALUE = 256;

/**
 * Returns the counter that a call uses under a policy.
 * @throws AssayError invalid_rate_limit_policy when the call lacks the header that the segment needs
 */
export function counterOf(
  { segment, unit }: Policy,
  caller: { organizationId: string; countedAs: string | null },
  headers: Pick<CallHeaders, 'userId' | 'properties'>,
): Counter {
  const { organizationId, countedAs: apiKeyId } = caller;
  if (segment === null) return { organizationId, apiKeyId, unit, segment: '', value: '' };
  return { organizationId, apiKeyId, unit, segment, value: segmentValue(segment, headers) };
}

function segmentValue(segment: string, headers: Pick<CallHeaders, 'userId' | 'properties'>): string {
  const isUser = segment === USER;
  // When a property is sent twice, the last one counts, as in the record.
  const value = isUser
    ? headers.userId
    : headers.properties.findLast(([name]) => name.toLowerCase() === segment)?.[1];
  if (value !== undefined && value !== null && value !== '')
    return value.length <= LONGEST_VALUE ? value : createHash('sha256').update(value).digest('hex');
  const header = isUser ? 'Service-User-Id' : `Service-Property-${segment}`;
  throw new AssayError(
    'invalid_rate_limit_policy',
    `The rate-limit policy counts by ${segment} (s=${segment}), but the call has no header ${header}`,
  );
}
