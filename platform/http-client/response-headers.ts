/** The headers of a provider's answer, with one value for each name (RFC 9110, section 5.3). Pure. */
import { NotHttp } from '../http-server/mod.ts';

/**
 * Names in lower case. Every value is one string, however often its name was sent: `collectHeaders` decides what several
 * lines of one name mean.
 */
export type ResponseHeaders = Readonly<Record<string, string>>;

/**
 * Describes the body: a reader that takes the first line and one that takes the last would read two different answers.
 * Lines that contradict each other are refused. The two that frame the body are joined as lists, and whoever reads the
 * framing refuses what is not one length, or not `chunked` alone.
 */
const DESCRIBES_BODY = 'content-type';
const FRAMES_BODY = new Set(['content-length', 'transfer-encoding']);

/**
 * Have one value by their definition, or are read by this gateway as if they had. Proxies on the way are known to add a
 * second line of some (`date`, `server`); the provider's own comes first, and the first counts (for `age`, RFC 9111,
 * section 5.1 says so). Joined, none of them could be read.
 */
const FIRST_COUNTS = new Set([
  'age',
  'content-location',
  'content-range',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'server',
  'x-ms-retry-after-ms',
  'x-request-id',
  'x-should-retry',
]);

/** The one list that cannot be joined by commas. Cookies belong to the provider's host and are never passed on. */
const COOKIE = 'set-cookie';

/**
 * Collects header lines. Of a name that came several times, equal values count once where the name has one value by its
 * definition; of other names the values are joined by commas, as RFC 9110 says of lists. `content-encoding` is such a
 * list: `gzip` twice means packed twice.
 * @param pairs names and values in turn
 * @throws NotHttp for lines that contradict each other about the body
 */
export function collectHeaders(pairs: readonly string[]): Record<string, string> {
  // Without a prototype, as a name may be that of a member of Object's.
  const headers: Record<string, string> = Object.create(null);
  for (let at = 0; at < pairs.length; at += 2) {
    const name = pairs[at]!.toLowerCase();
    const value = pairs[at + 1]!;
    const before = headers[name];
    if (before !== undefined) headers[name] = merged(name, before, value);
    else if (name !== COOKIE) headers[name] = value;
  }
  return headers;
}

function merged(name: string, before: string, value: string): string {
  if (name === DESCRIBES_BODY) {
    if (before.toLowerCase() === value.toLowerCase()) return before;
    throw new NotHttp(`its ${name} headers contradict each other`);
  }
  if (FIRST_COUNTS.has(name)) return before;
  // An empty length beside another contradicts it; in other lists an empty value says nothing.
  if (FRAMES_BODY.has(name)) return `${before}, ${value}`;
  if (value === '') return before;
  return before === '' ? value : `${before}, ${value}`;
}
