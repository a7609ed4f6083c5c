/** Compression of whole responses and of streams, for clients that accept it. */
import { Reply, type ServerRequest, sendableOf } from '../exchange/mod.ts';
import { readAcceptEncoding } from './accept-encoding.ts';
import { CODERS } from './coders.ts';
import { compressStream } from './compress-stream.ts';

/** Bytes below which a body is not compressed: it fits one packet anyway. */
const SMALLEST_COMPRESSED = 1_024;
/** Media types of text. Images and archives are compressed already. */
const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)|application\/(?:[\w.+-]*\+)?(?:json|javascript|xml|x-ndjson)\b|image\/svg)/i;
const BODILESS: ReadonlySet<number> = new Set([204, 206, 304]);

type Pairs = [string, string][];

const headerOf = (pairs: Pairs, name: string) =>
  pairs.find(([one]) => one.toLowerCase() === name)?.[1] ?? null;

/** Returns the headers with `Vary`, because the body depends on the request's encodings. */
function varying(pairs: Pairs): Pairs {
  const vary = headerOf(pairs, 'vary');
  if (vary === null) return [...pairs, ['vary', 'Accept-Encoding']];
  if (/(?:^|,)\s*(?:\*|accept-encoding)\s*(?:,|$)/i.test(vary)) return pairs;
  return pairs.map(([name, value]) => [
    name,
    name.toLowerCase() === 'vary' ? `${value}, Accept-Encoding` : value,
  ]);
}

/**
 * Returns the response in the best coding that its client accepts. A response to HEAD is compressed like the one to GET, as
 * their headers must be the same. A client that accepts no coding and no uncompressed body gets the latter: an error would have
 * a body as well. Responses with an `ETag` are left alone, because it names these very bytes.
 */
export async function compressResponse(request: ServerRequest, response: Response): Promise<Response> {
  const { status, body, ...head } = sendableOf(response);
  const given = [...head.pairs];
  if (body === null || BODILESS.has(status) || !COMPRESSIBLE.test(headerOf(given, 'content-type') ?? ''))
    return response;
  if (headerOf(given, 'content-encoding') !== null || headerOf(given, 'etag') !== null) return response;
  const isStream = body instanceof ReadableStream;
  if (!isStream && typeof body !== 'string' && !(body instanceof Uint8Array)) return response;

  const pairs = varying(given);
  const { coding, isIdentityAccepted } = readAcceptEncoding(request.headers.get('accept-encoding'));
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (coding === null) return new Reply(bytes, { status, headers: pairs });
  const coded: Pairs = [...pairs, ['content-encoding', coding]];
  if (bytes instanceof ReadableStream)
    return new Reply(compressStream(bytes, coding), { status, headers: coded });
  if (isIdentityAccepted && bytes.length < SMALLEST_COMPRESSED)
    return new Reply(bytes, { status, headers: pairs });
  return new Reply(await CODERS[coding].compress(bytes), { status, headers: coded });
}
