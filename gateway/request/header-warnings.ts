/** Warns of headers that look like ours and are not: a misspelt one would otherwise be ignored in silence. */
import { nearest } from '#core/text/mod.ts';
import { PROPERTY_PREFIX, SERVICE_HEADERS } from './service-headers.ts';

/** Headers that browsers themselves send under the prefix: https://w3c.github.io/ServiceWorker/ */
const OF_BROWSERS = new Set(['service-worker', 'service-worker-navigation-preload']);
const HELICONE_PREFIX = 'Helicone-';
const SERVICE_PREFIX = 'Service-';
/** One request may carry thousands of headers, and its reply should not. */
const MAX_WARNINGS = 5;
const MAX_NAME_CHARACTERS = 100;
/** Misspelt characters of the properties' prefix. With more, `Service-Promt-Id` would be taken for a property. */
const MAX_PREFIX_CHANGES = 3;

/** Adds a sentence about the header `given`, unless there are enough. */
export function addWarning(warnings: string[], given: string): void {
  if (warnings.length >= MAX_WARNINGS || OF_BROWSERS.has(given.toLowerCase())) return;
  warnings.push(warningFor(given));
}

function warningFor(given: string): string {
  const shown = given.length > MAX_NAME_CHARACTERS ? `${given.slice(0, MAX_NAME_CHARACTERS)}...` : given;
  if (given.toLowerCase().startsWith(HELICONE_PREFIX.toLowerCase())) {
    const ours = nearestHeader(SERVICE_PREFIX + given.slice(HELICONE_PREFIX.length));
    return ours === null ? `${shown} is not known here` : `${shown} is not read here; send ${ours}`;
  }
  const ours = nearestHeader(given);
  return ours === null ? `${shown} is not known here` : `${shown} is not known here; did you mean ${ours}?`;
}

/** Returns the header that was meant. A property's name may be anything, so only its prefix is compared. */
function nearestHeader(given: string): string | null {
  return nearestProperty(given) ?? nearest(given, SERVICE_HEADERS);
}

/** Returns the property that was meant, as by `Service-Propety-Plan`: a prefix nearly that of properties, and a name. */
function nearestProperty(given: string): string | null {
  const [first = '', second = '', ...rest] = given.split('-');
  const name = rest.join('-');
  if (name === '' || name.length > MAX_NAME_CHARACTERS) return null;
  const isNear = nearest(`${first}-${second}-`, [PROPERTY_PREFIX], MAX_PREFIX_CHANGES) !== null;
  return isNear ? PROPERTY_PREFIX + name : null;
}
