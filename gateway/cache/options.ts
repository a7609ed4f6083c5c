/** Parses the cache options of a call. Pure. */
import { invalidHeader } from '#core/contracts/invalid.ts';

/** The cache headers of a call, unparsed; null: not sent. */
export type CacheHeaders = {
  /** `Service-Cache-Enabled` is on. */
  isEnabled: boolean;
  /** Repeated headers are joined by commas. */
  cacheControl: string | null;
  seed: string | null;
  bucketMaxSize: string | null;
  /** `Service-Cache-Coalesce` is on. */
  isCoalescing: boolean;
};

export type CacheOptions = {
  maxAgeMs: number;
  /** Responses kept for one key, 1 to 20. */
  bucketSize: number;
  seed: string | null;
  /** False (`no-cache`): the provider is called, and its response stored in place of an old one. */
  isReading: boolean;
  /** Concurrent misses wait for one call. Never with `no-cache`: a follower could get a response from before its call. */
  isCoalescing: boolean;
};

const DAY_SECONDS = 86_400;
const DEFAULT_MAX_AGE_SECONDS = 7 * DAY_SECONDS;
/** A longer max-age counts as this, or as the time that records are kept. */
const LONGEST_MAX_AGE_DAYS = 365;
const MAX_BUCKET_SIZE = 20;

/**
 * Parses the options. Null: the call does not use the cache, because it did not ask for it or sent `no-store`. Other
 * directives of Cache-Control are ignored.
 * @param retentionDays how long records are kept; null: for ever
 * @throws AssayError invalid_header, naming the header
 */
export function parseCacheOptions(headers: CacheHeaders, retentionDays: number | null): CacheOptions | null {
  if (!headers.isEnabled) return null;
  const directives = readDirectives(headers.cacheControl ?? '');
  const longest = Math.min(LONGEST_MAX_AGE_DAYS, retentionDays ?? LONGEST_MAX_AGE_DAYS) * DAY_SECONDS;
  const maxAgeMs = Math.min(readMaxAgeSeconds(directives), longest) * 1_000;
  const bucketSize = readBucketSize(headers.bucketMaxSize);
  if (directives.some(([name]) => name === 'no-store')) return null;
  const isReading = !directives.some(([name]) => name === 'no-cache');
  const seed = headers.seed === '' ? null : headers.seed;
  return { maxAgeMs, bucketSize, seed, isReading, isCoalescing: headers.isCoalescing && isReading };
}

function readDirectives(cacheControl: string): [name: string, value: string][] {
  return cacheControl.split(',').map((directive) => {
    const [name = '', ...value] = directive.split('=');
    return [name.trim().toLowerCase(), value.join('=').trim()];
  });
}

/** Returns the max-age in seconds; the shortest of several counts. */
function readMaxAgeSeconds(directives: [string, string][]): number {
  const ages = directives
    .filter(([name]) => name === 'max-age')
    .map(([, value]) => {
      const digits = /^"?(\d+)"?$/.exec(value)?.[1];
      if (digits === undefined) throw invalidHeader('Cache-Control', 'max-age must be whole seconds', value);
      return Number(digits);
    });
  return ages.length === 0 ? DEFAULT_MAX_AGE_SECONDS : Math.min(...ages);
}

function readBucketSize(value: string | null): number {
  if (value === null) return 1;
  const size = /^\d{1,3}$/.test(value.trim()) ? Number(value) : 0;
  if (size >= 1 && size <= MAX_BUCKET_SIZE) return size;
  throw invalidHeader(
    'Service-Cache-Bucket-Max-Size',
    `it must be a whole number from 1 to ${MAX_BUCKET_SIZE}`,
    value,
  );
}
