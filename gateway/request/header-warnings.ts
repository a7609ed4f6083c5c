/** Headers that look like ours and are not: a misspelt one would otherwise be ignored in silence. */
import { nearest } from '#core/text/mod.ts';
import { PROPERTY_PREFIX, SERVICE_HEADERS } from './service-headers.ts';

/** What browsers themselves send under the prefix: https://w3c.github.io/ServiceWorker/ */
const OF_BROWSERS = new Set(['service-worker', 'service-worker-navigation-preload']);
const HELICONE_PREFIX = 'Helicone-';
const SERVICE_PREFIX = 'Service-';
/** One request may carry thousands of headers, and its answer should not. */
const MAX_WARNINGS = 5;
const MAX_NAME_CHARACTERS = 100;
/** Of the prefix of properties. With more, `Service-Promt-Id` would be taken for one. */
const MAX_PREFIX_CHANGES = 3;

/** Adds a sentence about the header `given`, unless there are enough. */
export function addWarning(warnings: string[], given: string): void {
  if (warnings.length >= MAX_WARNINGS || OF_BROWSERS.has(given.toLowerCase())) return;
  warnings.push(warningFor(given));
}

function warningFor(given: string): string {
  const shown = given.length > MAX_NAME_CHARACTERS ? `${given.slice(0, MAX_NAME_CHARACTERS)}...` : given;
  if (given.toLowerCase().startsWith(HELICONE_PREFIX.toLowerCase())) {
    const ours = meantBy(SERVICE_PREFIX + given.slice(HELICONE_PREFIX.length));
    return ours === null ? `${shown} is not known here` : `${shown} is not read here; send ${ours}`;
  }
  const ours = meantBy(given);
  return ours === null ? `${shown} is not known here` : `${shown} is not known here; did you mean ${ours}?`;
}

/** A property's name may be anything, so that its prefix alone tells. */
function meantBy(given: string): string | null {
  return propertyMeantBy(given) ?? nearest(given, SERVICE_HEADERS);
}

/** `Service-Propety-Plan`: a prefix that is nearly that of properties, with a name behind it. */
function propertyMeantBy(given: string): string | null {
  const [first = '', second = '', ...rest] = given.split('-');
  const name = rest.join('-');
  if (name === '' || name.length > MAX_NAME_CHARACTERS) return null;
  const isNear = nearest(`${first}-${second}-`, [PROPERTY_PREFIX], MAX_PREFIX_CHANGES) !== null;
  return isNear ? PROPERTY_PREFIX + name : null;
}
