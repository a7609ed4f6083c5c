import { Elysia } from 'elysia';
import { AssayError } from '#core/contracts/errors.ts';
import { Reply } from '#platform/http-server/mod.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { ANTHROPIC_ERRORS, type ErrorFormat, OPENAI_ERRORS } from '../endpoints/error-format.ts';
import type { ModelDocument, ModelLists } from '../models/mod.ts';
import { errorReply, type HeaderPairs, idHeaders } from '../response/reply.ts';
import { notServedSentence } from './not-served.ts';

/** OpenAI's path, and the bare one beside `/chat/completions`. */
const PATHS = ['/v1/models', '/models'];
/** A list changes within a second of a stored key; with the tag, a repeated request costs some hundred bytes. */
const CACHE_CONTROL = 'public, max-age=1';
const ALLOWED = 'GET, HEAD';

/** The list of models and each model, without a key. Clients that send `anthropic-version` get Anthropic's format. */
export function modelRoutes(models: ModelLists) {
  const routes = new Elysia({ name: 'gateway/models' });
  for (const path of PATHS) {
    const handle = ({ request }: { request: Request }) => respond(models, path, request);
    // Ids have slashes in them, as they are or encoded.
    routes.all(path, handle, { parse: 'none' }).all(`${path}/*`, handle, { parse: 'none' });
  }
  return routes;
}

function respond(models: ModelLists, path: string, request: Request): Response {
  const dialect = request.headers.has('anthropic-version') ? 'anthropic' : 'openai';
  const errors = dialect === 'anthropic' ? ANTHROPIC_ERRORS : OPENAI_ERRORS;
  const headers = idHeaders(newRequestId());
  try {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return notAllowed(request, path, headers, errors);
    const { pathname, searchParams } = new URL(request.url);
    const id = idIn(pathname.slice(path.length + 1));
    const found = id === '' ? models.list(dialect, searchParams) : models.one(dialect, id);
    return reply(found, request, headers);
  } catch (error) {
    return errorReply(error, headers, errors);
  }
}

/** Returns the id behind the path, or an empty text. */
function idIn(rest: string): string {
  try {
    return decodeURIComponent(rest);
  } catch {
    // A stray percent sign is in no id.
    return rest;
  }
}

function reply({ body, etag }: ModelDocument, request: Request, headers: HeaderPairs): Response {
  headers.push(['etag', etag], ['cache-control', CACHE_CONTROL], ['vary', 'anthropic-version']);
  if (isCurrent(request.headers.get('if-none-match'), etag)) return new Reply(null, { status: 304, headers });
  headers.push(['content-type', 'application/json'], ['content-length', String(body.length)]);
  // For HEAD the server sends the headers alone, and takes the length from the body.
  return new Reply(body, { status: 200, headers });
}

/** Returns whether the caller has these bytes: `If-None-Match` compares weakly (RFC 9110, 13.1.2). */
function isCurrent(condition: string | null, etag: string): boolean {
  if (condition === null) return false;
  return condition.split(',').some((part) => {
    const tag = part.trim();
    return tag === '*' || tag.replace(/^W\//, '') === etag;
  });
}

function notAllowed(request: Request, path: string, headers: HeaderPairs, errors: ErrorFormat): Response {
  // Google's clients call `POST /v1/models/<id>:generateContent` where their base URL names no version.
  const sentence = notServedSentence(request.method, new URL(request.url).pathname);
  if (sentence !== null) return errorReply(new AssayError('not_found', sentence), headers, errors);
  const error = new AssayError('method_not_allowed', `${request.method} is not allowed on ${path}; use GET`);
  return errorReply(error, [...headers, ['allow', ALLOWED]], errors);
}
