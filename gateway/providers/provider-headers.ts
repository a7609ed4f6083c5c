/** The headers of a provider call. */
import { AssayError } from '#core/contracts/errors.ts';
import { bearerToken } from '#platform/http-server/mod.ts';
import type { Call } from '../request/call.ts';
import type { CallHeaders } from '../request/headers.ts';
import type { PreparedBody } from './prepare-request.ts';
import type { ProviderRow } from './registry.ts';

type OwnKey = { key: string; isBearer: boolean };

/**
 * Flat list of the headers that a provider is sent: what may be passed on of the client's, and the key.
 * @param isStored the answer will be
 * @throws AssayError provider_not_configured when there is no key for the provider
 */
export function providerHeaders(call: Call, proposal: PreparedBody, isStored: boolean): string[] {
  const { headers, body } = call;
  const { row } = proposal.route;
  // A stream is read event by event, what is stored is for clients of any kind, and what is translated is read: these
  // should come uncompressed. Of another plain answer the bytes pass through, so the provider is offered what the client takes.
  const isPlain = body.stream || isStored || proposal.translation !== null;
  const encoding = isPlain ? null : headers.acceptEncoding;
  return [
    ...headers.forwarded,
    ...headers.forwardedTo[row.dialect],
    ...ownHeaders(row, headers),
    'content-type',
    'application/json',
    ...credential(call, proposal),
    'accept-encoding',
    encoding ?? 'identity',
  ];
}

/** Those of the provider's row; the caller may have set a version itself. */
function ownHeaders({ headers }: ProviderRow, { forwardedTo }: CallHeaders): readonly string[] {
  return headers.length > 0 && forwardedTo.anthropic.includes(headers[0]!) ? [] : headers;
}

/** The provider key that a call brings, beside its Assay key in `Service-Auth`; null: none. */
export function ownKey({ serviceAuth, authorization, xApiKey }: CallHeaders): OwnKey | null {
  if (serviceAuth === null) return null;
  const bearer = authorization === null ? null : bearerToken(authorization);
  const key = bearer ?? xApiKey;
  return key === null ? null : { key, isBearer: bearer !== null };
}

/** The caller's own provider key; else its organization's; else the operator's. */
function credential({ headers, caller }: Call, { route, translation }: PreparedBody): string[] {
  const { row } = route;
  const own = ownKey(headers);
  if (own !== null) {
    // Tokens of Anthropic's subscriptions count in this header alone.
    const isToken = own.isBearer && row.dialect === 'anthropic' && translation === null;
    return isToken ? ['authorization', `Bearer ${own.key}`] : keyHeader(row, own.key);
  }
  const stored = caller.providerKeys.get(route.provider);
  if (stored === null) {
    throw new AssayError(
      'provider_not_configured',
      `The key that is stored for the provider ${route.provider} cannot be opened here, because SECRET_KEY is not the one it was stored with: store it again, or send your own with the call`,
    );
  }
  const key = stored ?? route.apiKey;
  if (key !== null) return keyHeader(row, key);
  if (!row.needsKey) return [];
  throw new AssayError(
    'provider_not_configured',
    `The provider ${route.provider} has no key here: ${row.keyVariable} is not set, none is stored, and the call brought none of its own`,
  );
}

function keyHeader(row: ProviderRow, key: string): string[] {
  return [row.keyHeader, row.keyHeader === 'authorization' ? `Bearer ${key}` : key];
}
