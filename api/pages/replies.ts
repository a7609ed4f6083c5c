/** Responses with the dashboard's files and documents. */
import { AssayError } from '#core/contracts/errors.ts';
import { Reply, readAcceptEncoding } from '#platform/http-server/mod.ts';
import type { Dashboard } from './dashboard.ts';
import { NOT_BUILT_DOCUMENT } from './documents.ts';
import { FILE_HEADERS, PAGE_HEADERS, REFERENCE_HEADERS } from './headers.ts';

/** Codings that files are kept in, the smaller one first. */
const CODINGS = ['br', 'gzip'] as const;

/** Paths that belong to the API, the files and the operators: what is missing there is not a page. */
const RESERVED = /^\/(?:v1|assets|cli|mcp|openapi|healthz|readyz|metrics)(?:[/.]|$)/;

/** Returns whether a request is a browser's for a page. The page says itself when it does not know its path. */
export function isPageRequest({ method, url, headers }: Request): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  return !RESERVED.test(new URL(url).pathname) && /\btext\/html\b/i.test(headers.get('accept') ?? '');
}

function notBuiltReply(): Response {
  return new Reply(NOT_BUILT_DOCUMENT, { status: 503, headers: PAGE_HEADERS });
}

/** Returns the document of a page; null stands for a dashboard that is not built. */
export function pageReply(dashboard: Dashboard | null, { url }: Request): Response {
  if (dashboard === null) return notBuiltReply();
  return new Reply(dashboard.page(new URL(url).pathname), { headers: PAGE_HEADERS });
}

/** Returns the document of the API reference. */
export function referenceReply(dashboard: Dashboard | null): Response {
  if (dashboard === null) return notBuiltReply();
  return new Reply(dashboard.reference, { headers: REFERENCE_HEADERS });
}

/**
 * Returns a file in the coding that the client likes best.
 * @throws AssayError not_found
 */
export function fileReply(dashboard: Dashboard | null, name: string, request: Request): Response {
  const file = dashboard?.files.get(name);
  if (file === undefined)
    throw new AssayError('not_found', `There is no file ${name} in this version of the dashboard`);
  const { coding } = readAcceptEncoding(request.headers.get('accept-encoding'), CODINGS);
  const headers: Record<string, string> = { ...FILE_HEADERS, 'content-type': file.type };
  if (file.isShared) headers['cross-origin-resource-policy'] = 'cross-origin';
  if (coding !== 'br' && coding !== 'gzip') return new Reply(file.identity, { headers });
  return new Reply(file[coding], { headers: { ...headers, 'content-encoding': coding } });
}
