/** Endings of attempts that the tests of the attempt loop share. */
import type { Ending } from '../../../integration/gateway/routing/world.ts';

export const OK: Ending = { status: 200 };
export const UNREACHABLE: Ending = { fails: 'provider_unreachable' };
export const TIMEOUT: Ending = { fails: 'provider_timeout' };
export const BUSY: Ending = { status: 503 };
export const LIMITED: Ending = { status: 429, headers: { 'retry-after': '2' } };
export const LIMITED_LONG: Ending = { status: 429, headers: { 'retry-after': '30' } };
