/** Prepares provider requests: the body in the provider's dialect, and the headers with the provider key. */
import { AssayError } from '#core/contracts/errors.ts';
import { appendMember, editMembers, type MemberChange } from '#core/json/mod.ts';
import { bearerToken } from '#platform/http-server/mod.ts';
import { joinBytesInTurns } from '#platform/process/turns.ts';
import { mayHaveForeignReasoning } from '../dialects/mod.ts';
import type { ApiEndpoint } from '../endpoints/endpoint.ts';
import { membersOf, type RequestBody } from '../request/body.ts';
import type { Call, CallHeaders } from '../request/call.ts';
import {
  type RequestChange,
  TRANSLATIONS,
  type Translated,
  type Translation,
  translateBody,
  translationFor,
} from '../translations/mod.ts';
import type { ProviderRow } from './registry.ts';
import type { Candidate } from './resolve.ts';

/** The body of a provider request. */
export type PreparedBody = {
  readonly candidate: Candidate;
  readonly path: string;
  /** null: the provider speaks the API endpoint's dialect, and bytes pass through. */
  readonly translation: Translation | null;
  readonly body: Buffer;
  /** The gateway asks for usage and the client did not: its event must not reach the client. */
  readonly hidesUsage: boolean;
};

export type PreparedRequest = PreparedBody & {
  /** Flat list of names and values: the client's headers that may be forwarded, and the provider key. */
  readonly headers: string[];
};

/**
 * Prepares the provider request of a call for one candidate. Returns a promise only when the body is changed.
 * @param usesCache whether the response may be stored in the cache
 * @throws AssayError endpoint_not_supported, provider_not_configured when there is no key for the provider, invalid_body
 *   when the provider's dialect cannot express the request, or bodies_busy or client_closed_request while it waits to be translated
 */
export function prepareProviderRequest(
  candidate: Candidate,
  call: Pick<Call, 'body' | 'endpoint' | 'headers' | 'caller' | 'signal'>,
  usesCache: boolean,
): PreparedRequest | Promise<PreparedRequest> {
  const withHeaders = (prepared: PreparedBody): PreparedRequest => ({
    ...prepared,
    headers: providerHeaders(call, prepared, usesCache),
  });
  const whose = { organizationId: call.caller.organizationId, signal: call.signal };
  const prepared = prepareBody(candidate, call.body, call.endpoint, whose);
  return prepared instanceof Promise ? prepared.then(withHeaders) : withHeaders(prepared);
}

/**
 * Prepares the body for a candidate. In the same dialect the client's bytes are kept, except for the model's name and the
 * option that asks for usage, which is added or removed where needed.
 * @throws AssayError endpoint_not_supported, or invalid_body when the provider's dialect cannot express the request
 * @internal Exported so that tests check bodies without a call.
 */
export function prepareBody(
  candidate: Candidate,
  body: RequestBody,
  endpoint: ApiEndpoint,
  whose: Translated,
): PreparedBody | Promise<PreparedBody> {
  const { row, model, paths } = candidate;
  const path = paths[endpoint.providerEndpoint];
  if (path === undefined) return prepareTranslatedBody(candidate, body, endpoint, whose);
  if (row.dialect === 'anthropic' && mayHaveForeignReasoning(body.bytes)) {
    return withChange('messages without reasoning of others', candidate, body, whose).then((bytes) => {
      return { candidate, path, translation: null, body: bytes, hidesUsage: false };
    });
  }
  const isMissing = endpoint.hasUsageOption && body.streamOptions?.include_usage !== true;
  const hidesUsage = body.stream && row.takesUsageOption && isMissing;
  const joined = async (pieces: readonly Buffer[]): Promise<PreparedBody> => {
    return { candidate, path, translation: null, body: await joinBytesInTurns(pieces), hidesUsage };
  };
  // Most streams have no `stream_options`: appending the member then needs no search of the body.
  if (hidesUsage && !body.hasStreamOptions && model === body.model) {
    return joined(appendMember(body.bytes, 'stream_options', { include_usage: true }));
  }
  const changes: MemberChange[] = [];
  if (model !== body.model) changes.push({ kind: 'set', name: 'model', value: model });
  if (hidesUsage)
    changes.push({ kind: 'set inner', name: 'stream_options', inner: 'include_usage', value: true });
  else if (!row.takesUsageOption && body.hasStreamOptions)
    changes.push({ kind: 'drop', name: 'stream_options' });
  if (changes.length === 0) return { candidate, path, translation: null, body: body.bytes, hidesUsage };
  return joined(editMembers(body.bytes, membersOf(body), changes));
}

/** Translation recurses into the body: this is deeper than any real body, and well within the stack. */
const MAX_TRANSLATED_DEPTH = 512;

/** Ten thousand messages have a tenth of that. Translating more values takes seconds, and hundreds of megabytes. */
const MAX_TRANSLATED_VALUES = 250_000;

async function prepareTranslatedBody(
  candidate: Candidate,
  body: RequestBody,
  endpoint: ApiEndpoint,
  whose: Translated,
): Promise<PreparedBody> {
  const name = translationFor(endpoint.providerEndpoint, candidate);
  if (name === null) throw notSupported(candidate, endpoint);
  const translation = TRANSLATIONS[name];
  const bytes = await withChange(name, candidate, body, whose);
  // A translated stream always has usage: it is hidden when the client's dialect has an option for it that was not set.
  const hidesUsage = body.stream && endpoint.hasUsageOption && body.streamOptions?.include_usage !== true;
  return { candidate, path: candidate.paths[translation.endpoint]!, translation, body: bytes, hidesUsage };
}

/** Returns the body with all of its values read and written again. */
async function withChange(
  change: RequestChange,
  candidate: Candidate,
  body: RequestBody,
  whose: Translated,
): Promise<Buffer> {
  const { deepest, values } = membersOf(body);
  if (deepest > MAX_TRANSLATED_DEPTH)
    throw bodyTooComplex(candidate, `is nested deeper than ${MAX_TRANSLATED_DEPTH} levels`);
  if (values > MAX_TRANSLATED_VALUES)
    throw bodyTooComplex(candidate, `holds more than ${MAX_TRANSLATED_VALUES} values`);
  const { model, row } = candidate;
  return await translateBody({ bytes: body.bytes, change, model, row }, values, whose);
}

function bodyTooComplex({ row }: Candidate, excess: string): AssayError {
  return new AssayError(
    'invalid_body',
    `The request body ${excess}, too much to translate into the dialect of ${row.label}`,
  );
}

function notSupported(candidate: Candidate, { path }: ApiEndpoint): AssayError {
  const { row, model, paths } = candidate;
  const translated = (['chat', 'messages', 'countTokens'] as const).filter(
    (endpoint) => paths[endpoint] === undefined && translationFor(endpoint, candidate) !== null,
  );
  const names = [...Object.keys(paths), ...translated].join(', ');
  return new AssayError(
    'endpoint_not_supported',
    `The provider ${row.label} of the model '${model}' has no ${path} here; it can be called for: ${names}`,
  );
}

type CallProviderKey = { key: string; isBearer: boolean };

function providerHeaders(
  call: Pick<Call, 'body' | 'headers' | 'caller'>,
  prepared: PreparedBody,
  usesCache: boolean,
): string[] {
  const { headers, body } = call;
  const { row } = prepared.candidate;
  // The gateway reads streams and translated responses, and a stored response may go to clients with other encodings:
  // these are requested uncompressed. All other bytes pass through, so the client's Accept-Encoding does too.
  const isPlain = body.stream || usesCache || prepared.translation !== null;
  const encoding = isPlain ? null : headers.acceptEncoding;
  return [
    ...headers.forwarded,
    ...headers.forwardedTo[row.dialect],
    ...providerRowHeaders(row, headers),
    'content-type',
    'application/json',
    ...credential(call, prepared),
    'accept-encoding',
    encoding ?? 'identity',
  ];
}

/** Returns the headers of the provider's row, unless the caller has set an Anthropic version itself. */
function providerRowHeaders({ headers }: ProviderRow, { forwardedTo }: CallHeaders): readonly string[] {
  return headers.length > 0 && forwardedTo.anthropic.includes(headers[0]!) ? [] : headers;
}

/** Returns the provider key of a call whose Assay key is in `Service-Auth`; null: none. */
export function ownKey({ serviceAuth, authorization, xApiKey }: CallHeaders): CallProviderKey | null {
  if (serviceAuth === null) return null;
  const bearer = authorization === null ? null : bearerToken(authorization);
  const key = bearer ?? xApiKey;
  return key === null ? null : { key, isBearer: bearer !== null };
}

/** Returns the header with the provider key: the caller's own, else its organization's, else the operator's. */
function credential(
  { headers, caller }: Pick<Call, 'headers' | 'caller'>,
  { candidate, translation }: PreparedBody,
): string[] {
  const { row } = candidate;
  const own = ownKey(headers);
  if (own !== null) {
    // Anthropic accepts the tokens of its subscriptions only in this header.
    const isToken = own.isBearer && row.dialect === 'anthropic' && translation === null;
    return isToken ? ['authorization', `Bearer ${own.key}`] : keyHeader(row, own.key);
  }
  const stored = caller.providerKeys.get(candidate.provider);
  if (stored === null) {
    throw new AssayError(
      'provider_not_configured',
      `The stored key for the provider ${candidate.provider} cannot be decrypted, because SECRET_KEY has changed since it was stored: store it again, or send your own with the call`,
    );
  }
  const key = stored ?? candidate.apiKey;
  if (key !== null) return keyHeader(row, key);
  if (!row.needsKey) return [];
  throw new AssayError(
    'provider_not_configured',
    `The provider ${candidate.provider} has no key here: ${row.keyVariable} is not set, none is stored, and the call has none of its own`,
  );
}

function keyHeader(row: ProviderRow, key: string): string[] {
  return [row.keyHeader, row.keyHeader === 'authorization' ? `Bearer ${key}` : key];
}
