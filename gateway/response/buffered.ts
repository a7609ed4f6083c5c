/**
 * A response in one piece: gathered whole, committed to the log, then sent. Nobody can use half of a JSON document, and
 * only so can its last byte wait for its record.
 */
import { AssayError, httpStatusOf } from '#core/contracts/errors.ts';
import { encodingOf, type ProviderResponse } from '#platform/http-client/mod.ts';
import { Reply } from '#platform/http-server/mod.ts';
import { detectErrorPayload, findInvalidBody, pageOf } from './inspect-body.ts';
import { type ResponseRelay, replyToLeft } from './outcome.ts';
import { errorTypeOf, type HeaderPairs, ownErrorBody, relayedHeaders, unloggedHeaders } from './reply.ts';

/** The characters of a provider's page that are quoted in an error message. */
const QUOTED_CHARACTERS = 2_000;
const NOTHING = Buffer.alloc(0);

type ReplyParts = { status: number; body: Buffer; headers: HeaderPairs; errorCode: string | null };

/**
 * Relays a response in one piece.
 * @param maxBytes a larger response is refused: it would be held in memory
 */
export async function relayBuffered(relay: ResponseRelay, maxBytes: number): Promise<Response> {
  const { call, label, response } = relay;
  const { body } = response;
  const gathering = body.gather((_, heldBytes) => heldBytes > maxBytes, call.signal);
  const gathered = gathering instanceof Promise ? await gathering : gathering;
  if (gathered === 'stopped') return replyToLeft(relay.record, body.held);
  if (gathered === 'enough') {
    body.stop();
    const message = `The provider ${label} sent an answer of more than ${maxBytes} bytes`;
    return await commit(
      relay,
      ownError(relay, new AssayError('provider_bad_answer', message)),
      NOTHING,
      true,
    );
  }
  const raw = body.held;
  if (gathered !== 'whole') return await commit(relay, ownError(relay, gathered), raw, true);
  const judged = judge(relay, raw);
  // A promise only of packed bodies: others are judged at once.
  const parts = judged instanceof Promise ? await judged : judged;
  if (call.signal.aborted) return replyToLeft(relay.record, raw);
  return await commit(relay, parts, raw, false);
}

/** Records what came of the call, and returns its reply. */
async function commit(
  { response, record }: ResponseRelay,
  parts: ReplyParts,
  raw: Buffer,
  truncated: boolean,
): Promise<Response> {
  const isKept = await record({
    status: recordedStatus(parts, response, raw),
    responseBody: raw.length === 0 ? parts.body : raw,
    contentType: response.headers['content-type'] ?? null,
    contentEncoding: raw.length === 0 ? null : encodingOf(response),
    stream: false,
    ttftMs: null,
    truncated,
    errorCode: parts.errorCode,
  });
  parts.headers.push(...unloggedHeaders(isKept));
  return new Reply(parts.body, { status: parts.status, headers: parts.headers });
}

/** Returns the status for the record: of an error under the status of a success, the one that it would have had. */
function recordedStatus({ status }: ReplyParts, response: ProviderResponse, raw: Buffer): number {
  return status > 299 ? status : (detectErrorPayload(raw, encodingOf(response)) ?? status);
}

/** Decides what the client gets: the provider's bytes as they are, unless no client could read them. */
function judge(relay: ResponseRelay, raw: Buffer): ReplyParts | Promise<ReplyParts> {
  const { response, label } = relay;
  const { status, headers } = response;
  const asItCame = (): ReplyParts => ({
    status,
    body: raw,
    headers: relayedHeaders(headers, relay.headers),
    errorCode: null,
  });
  if (status >= 400)
    return whenKnown(pageOf(response, raw), (page) => (page === null ? asItCame() : quoted(relay, page)));
  return whenKnown(findInvalidBody(response, raw, label), (error) =>
    error === null ? asItCame() : ownError(relay, error),
  );
}

function whenKnown<T>(
  known: T | Promise<T>,
  use: (value: T) => ReplyParts,
): ReplyParts | Promise<ReplyParts> {
  return known instanceof Promise ? known.then(use) : use(known);
}

function ownError({ call, headers }: ResponseRelay, error: AssayError): ReplyParts {
  return {
    status: httpStatusOf(error),
    body: ownErrorBody(error, call.endpoint.errors),
    headers: [['content-type', 'application/json'], ...headers],
    errorCode: error.code,
  };
}

/** Returns an error of the provider's status that quotes its page. */
function quoted({ call, response, label, headers: own }: ResponseRelay, page: string): ReplyParts {
  const { status, headers } = response;
  const text = page.length > QUOTED_CHARACTERS ? `${page.slice(0, QUOTED_CHARACTERS)}…` : page;
  const message = `The provider ${label} answered ${status}${text === '' ? ' without a body' : `: ${text}`}`;
  // The body is ours now, so what described the provider's goes; retry-after and x-ratelimit-* stay.
  const kept = relayedHeaders(headers, own).filter(
    ([name]) => !name.startsWith('content-') && name !== 'etag',
  );
  kept.push(['content-type', 'application/json']);
  const details = call.endpoint.errors.body({ status, message, type: errorTypeOf(status), code: null });
  return { status, body: Buffer.from(JSON.stringify(details)), headers: kept, errorCode: null };
}
