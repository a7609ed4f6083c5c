/** Headers of the playground's calls, both ways: closed lists. */
import type { PlaygroundBody } from '#core/contracts/playground.ts';

/** Names of members of the body, with the headers that they become. */
const SERVICE_HEADERS = [
  ['user_id', 'service-user-id'],
  ['session_id', 'service-session-id'],
  ['session_name', 'service-session-name'],
  ['session_path', 'service-session-path'],
] as const;

/** Returns the headers of a call, but for its signature. Nothing that the browser sent is among them. */
export function callHeaders(body: PlaygroundBody): Record<string, string> {
  const given = SERVICE_HEADERS.flatMap(([member, header]) => {
    const value = body[member];
    return value === undefined ? [] : [[header, headerValue(value)]];
  });
  const properties = Object.entries(body.properties ?? {}).map(([name, value]) => [
    `service-property-${name}`,
    headerValue(value),
  ]);
  return {
    'content-type': 'application/json',
    // The API compresses for the browser.
    'accept-encoding': 'identity',
    ...(body.cache === true && { 'service-cache-enabled': 'true' }),
    ...Object.fromEntries(given),
    ...Object.fromEntries(properties),
  };
}

/** Returns text as the bytes of UTF-8, each a character, which is how headers carry it. */
function headerValue(text: string): string {
  return Buffer.from(text).toString('latin1');
}

const PASSED = new Set(['content-type', 'content-encoding', 'retry-after']);
const SERVICE_PREFIX = 'service-';

/** Returns the headers of the gateway's response that the page gets: its type, and what the gateway says of the call. */
export function passedHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined || !(PASSED.has(name) || name.startsWith(SERVICE_PREFIX))) return [];
    return [value].flat().map((one): [string, string] => [name, one]);
  });
}
