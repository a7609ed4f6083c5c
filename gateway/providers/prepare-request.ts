/** What a route is asked for an answer, and how its answer becomes one of the surface that was called. */
import { AssayError } from '#core/contracts/errors.ts';
import { appendMember, editMembers, type MemberChange } from '#core/json/mod.ts';
import { joinBytesInTurns } from '#platform/process/turns/mod.ts';
import type { ApiEndpoint } from '../endpoints/endpoint.ts';
import { membersOf, type RequestBody } from '../request/body.ts';
import type { ProviderEndpoint } from './registry.ts';
import type { Candidate } from './resolve.ts';
import { TRANSLATIONS, type Translation } from './translation.ts';
import { translated } from './translation-thread.ts';

export type PreparedBody = {
  route: Candidate;
  path: string;
  /** null: the provider speaks the surface's dialect, and bytes pass through. */
  translation: Translation | null;
  /** What the provider is sent. */
  body: Buffer;
  /** We asked for usage and the client did not: its chunk must not reach the client. */
  hidesUsage: boolean;
};

/**
 * Makes the proposal to a route. In the same dialect: the client's bytes, but for the model's name and the wish for
 * usage, which is added or left out where needed.
 * @throws AssayError endpoint_not_supported, or invalid_body for what the provider's dialect cannot express
 */
export async function prepareBody(
  route: Candidate,
  body: RequestBody,
  surface: ApiEndpoint,
): Promise<PreparedBody> {
  const { row, model, paths } = route;
  const path = paths[surface.endpoint];
  if (path === undefined) return translatedProposal(route, body, surface);
  const isMissing = surface.hasUsageOption && body.streamOptions?.include_usage !== true;
  const hidesUsage = body.stream && row.takesUsageOption && isMissing;
  // Most streams do not name the option: asking for it is one more member, and nothing has to be looked for.
  if (hidesUsage && !body.hasStreamOptions && model === body.model) {
    const pieces = appendMember(body.bytes, 'stream_options', { include_usage: true });
    return { route, path, translation: null, body: await joinBytesInTurns(pieces), hidesUsage };
  }
  const changes: MemberChange[] = [];
  if (model !== body.model) changes.push({ kind: 'set', name: 'model', value: model });
  if (hidesUsage)
    changes.push({ kind: 'set inner', name: 'stream_options', inner: 'include_usage', value: true });
  else if (!row.takesUsageOption && body.hasStreamOptions)
    changes.push({ kind: 'drop', name: 'stream_options' });
  const isAsItCame = changes.length === 0;
  const bytes = isAsItCame
    ? body.bytes
    : await joinBytesInTurns(editMembers(body.bytes, membersOf(body), changes));
  return { route, path, translation: null, body: bytes, hidesUsage };
}

/** What is translated is walked through on the stack: deeper than any real body, and well within it. */
const MAX_TRANSLATED_DEPTH = 512;

/** Ten thousand messages have a tenth of that. Reading more takes seconds, and hundreds of megabytes. */
const MAX_TRANSLATED_VALUES = 250_000;

async function translatedProposal(
  route: Candidate,
  body: RequestBody,
  surface: ApiEndpoint,
): Promise<PreparedBody> {
  const translation = TRANSLATIONS[surface.endpoint];
  const path = translation === undefined ? undefined : route.paths[translation.endpoint];
  if (translation === undefined || path === undefined) throw notSupported(route, surface);
  const { deepest, values } = membersOf(body);
  if (deepest > MAX_TRANSLATED_DEPTH)
    throw tooMuch(route, `is nested deeper than ${MAX_TRANSLATED_DEPTH} levels`);
  if (values > MAX_TRANSLATED_VALUES) throw tooMuch(route, `holds more than ${MAX_TRANSLATED_VALUES} values`);
  const task = { bytes: body.bytes, endpoint: surface.endpoint, model: route.model, row: route.row };
  const bytes = await translated(task, values);
  // What is translated has its usage in a place of its own: it is hidden where the client's dialect has an option for it.
  const hidesUsage = body.stream && surface.hasUsageOption && body.streamOptions?.include_usage !== true;
  return { route, path, translation, body: bytes, hidesUsage };
}

function tooMuch({ row }: Candidate, what: string): AssayError {
  return new AssayError(
    'invalid_body',
    `The request body ${what}, and ${row.label} is called in another dialect`,
  );
}

function notSupported({ row, model, paths }: Candidate, { path }: ApiEndpoint): AssayError {
  const names = (Object.keys(paths) as ProviderEndpoint[]).join(', ');
  return new AssayError(
    'endpoint_not_supported',
    `The provider ${row.label} of the model '${model}' has no ${path} here; it can be called for: ${names}`,
  );
}
