/** What a candidate is sent for a call, and how its response becomes one of the endpoint that was called. */
import { AssayError } from '#core/contracts/errors.ts';
import { appendMember, editMembers, type MemberChange } from '#core/json/mod.ts';
import { bearerToken } from '#platform/http-server/mod.ts';
import { joinBytesInTurns } from '#platform/process/turns/mod.ts';
import type { ApiEndpoint } from '../endpoints/endpoint.ts';
import { membersOf, type RequestBody } from '../request/body.ts';
import type { Call, CallHeaders } from '../request/call.ts';
import type { ProviderEndpoint, ProviderRow } from './registry.ts';
import type { Candidate } from './resolve.ts';
import { TRANSLATIONS, type Translation } from './translation.ts';
import { translated } from './translation-thread.ts';

/** The body that a candidate is sent. */
export type PreparedBody = {
  readonly candidate: Candidate;
  readonly path: string;
  /** null: the provider speaks the endpoint's dialect, and bytes pass through. */
  readonly translation: Translation | null;
  readonly body: Buffer;
  /** The gateway asks for usage and the client did not: its event must not reach the client. */
  readonly hidesUsage: boolean;
};

export type PreparedRequest = PreparedBody & {
  /** Flat list of names and values: what may be passed on of the client's, and the key. */
  readonly headers: string[];
};

/**
 * Prepares what a candidate is sent for a call.
 * @param isStored its response may be stored in the cache
 * @throws AssayError endpoint_not_supported, provider_not_configured when there is no key for the provider, or invalid_body
 *   for what the provider's dialect cannot express
 */
export async function prepareProviderRequest(
  candidate: Candidate,
  call: Pick<Call, 'body' | 'endpoint' | 'headers' | 'caller'>,
  isStored: boolean,
): Promise<PreparedRequest> {
  const prepared = await prepareBody(candidate, call.body, call.endpoint);
  return { ...prepared, headers: providerHeaders(call, prepared, isStored) };
}

/**
 * Prepares the body for a candidate. In the same dialect these are the client's bytes, but for the model's name and the
 * option that asks for usage, which is added or left out where needed.
 * @throws AssayError endpoint_not_supported, or invalid_body for what the provider's dialect cannot express
 * @internal Exported so that tests check bodies without a call.
 */
export async function prepareBody(
  candidate: Candidate,
  body: RequestBody,
  endpoint: ApiEndpoint,
): Promise<PreparedBody> {
  const { row, model, paths } = candidate;
  const path = paths[endpoint.providerEndpoint];
  if (path === undefined) return translatedBody(candidate, body, endpoint);
  const isMissing = endpoint.hasUsageOption && body.streamOptions?.include_usage !== true;
  const hidesUsage = body.stream && row.takesUsageOption && isMissing;
  // Most streams do not name the option: asking for it is one more member, and nothing has to be looked for.
  if (hidesUsage && !body.hasStreamOptions && model === body.model) {
    const pieces = appendMember(body.bytes, 'stream_options', { include_usage: true });
    return { candidate, path, translation: null, body: await joinBytesInTurns(pieces), hidesUsage };
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
  return { candidate, path, translation: null, body: bytes, hidesUsage };
}

/** A translated body is walked through on the stack: deeper than any real body, and well within the stack. */
const MAX_TRANSLATED_DEPTH = 512;

/** Ten thousand messages have a tenth of that. Reading more takes seconds, and hundreds of megabytes. */
const MAX_TRANSLATED_VALUES = 250_000;

async function translatedBody(
  candidate: Candidate,
  body: RequestBody,
  endpoint: ApiEndpoint,
): Promise<PreparedBody> {
  const translation = TRANSLATIONS[endpoint.providerEndpoint];
  const path = translation === undefined ? undefined : candidate.paths[translation.endpoint];
  if (translation === undefined || path === undefined) throw notSupported(candidate, endpoint);
  const { deepest, values } = membersOf(body);
  if (deepest > MAX_TRANSLATED_DEPTH)
    throw tooMuch(candidate, `is nested deeper than ${MAX_TRANSLATED_DEPTH} levels`);
  if (values > MAX_TRANSLATED_VALUES)
    throw tooMuch(candidate, `holds more than ${MAX_TRANSLATED_VALUES} values`);
  const task = {
    bytes: body.bytes,
    endpoint: endpoint.providerEndpoint,
    model: candidate.model,
    row: candidate.row,
  };
  const bytes = await translated(task, values);
  // What is translated has its usage in a place of its own: it is hidden where the client's dialect has an option for it.
  const hidesUsage = body.stream && endpoint.hasUsageOption && body.streamOptions?.include_usage !== true;
  return { candidate, path, translation, body: bytes, hidesUsage };
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

type OwnKey = { key: string; isBearer: boolean };

function providerHeaders(
  call: Pick<Call, 'body' | 'headers' | 'caller'>,
  prepared: PreparedBody,
  isStored: boolean,
): string[] {
  const { headers, body } = call;
  const { row } = prepared.candidate;
  // A stream is read event by event, a stored response is for clients of any kind, and a translated one is read: these
  // should come uncompressed. The bytes of any other response pass through, so the provider is offered what the client takes.
  const isPlain = body.stream || isStored || prepared.translation !== null;
  const encoding = isPlain ? null : headers.acceptEncoding;
  return [
    ...headers.forwarded,
    ...headers.forwardedTo[row.dialect],
    ...ownHeaders(row, headers),
    'content-type',
    'application/json',
    ...credential(call, prepared),
    'accept-encoding',
    encoding ?? 'identity',
  ];
}

/** Returns the headers of the provider's row; the caller may have set a version itself. */
function ownHeaders({ headers }: ProviderRow, { forwardedTo }: CallHeaders): readonly string[] {
  return headers.length > 0 && forwardedTo.anthropic.includes(headers[0]!) ? [] : headers;
}

/** Returns the provider key that a call brings beside its Assay key in `Service-Auth`; null: none. */
export function ownKey({ serviceAuth, authorization, xApiKey }: CallHeaders): OwnKey | null {
  if (serviceAuth === null) return null;
  const bearer = authorization === null ? null : bearerToken(authorization);
  const key = bearer ?? xApiKey;
  return key === null ? null : { key, isBearer: bearer !== null };
}

/** Returns the header of the caller's own provider key; else of its organization's; else of the operator's. */
function credential(
  { headers, caller }: Pick<Call, 'headers' | 'caller'>,
  { candidate, translation }: PreparedBody,
): string[] {
  const { row } = candidate;
  const own = ownKey(headers);
  if (own !== null) {
    // Tokens of Anthropic's subscriptions count in this header alone.
    const isToken = own.isBearer && row.dialect === 'anthropic' && translation === null;
    return isToken ? ['authorization', `Bearer ${own.key}`] : keyHeader(row, own.key);
  }
  const stored = caller.providerKeys.get(candidate.provider);
  if (stored === null) {
    throw new AssayError(
      'provider_not_configured',
      `The key that is stored for the provider ${candidate.provider} cannot be opened here, because SECRET_KEY is not the one it was stored with: store it again, or send your own with the call`,
    );
  }
  const key = stored ?? candidate.apiKey;
  if (key !== null) return keyHeader(row, key);
  if (!row.needsKey) return [];
  throw new AssayError(
    'provider_not_configured',
    `The provider ${candidate.provider} has no key here: ${row.keyVariable} is not set, none is stored, and the call brought none of its own`,
  );
}

function keyHeader(row: ProviderRow, key: string): string[] {
  return [row.keyHeader, row.keyHeader === 'authorization' ? `Bearer ${key}` : key];
}
