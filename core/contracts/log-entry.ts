import { type Static, Type } from '@sinclair/typebox';
import { type Checker, Compile } from './check.ts';

const OptionalText = Type.Union([Type.String(), Type.Null()]);
const OptionalMs = Type.Union([Type.Number(), Type.Null()]);

/** One try of a call, which may have several: at one provider again, or at another. */
const Attempt = Type.Object(
  {
    /** Upper case, as below. */
    provider: Type.String(),
    /** As this provider was asked for it. */
    model: Type.String(),
    /** The provider's; 0: no answer came. */
    status: Type.Integer(),
    /** A code of ours when no answer came, or none that could be used. */
    errorCode: OptionalText,
    /** From this try's beginning to its answer or failure. */
    latencyMs: Type.Integer(),
  },
  { additionalProperties: false },
);

/**
 * What the gateway knows of one request when its answer is complete: the head of a log entry. The two bodies travel
 * beside it as the bytes that were sent and received; parsing them is ingest's work, not the gateway's.
 */
export const LogEntryHead = Type.Object(
  {
    /** Version of this layout; a reader refuses what it does not know. */
    v: Type.Literal(1),
    id: Type.String(),
    organizationId: Type.String(),
    apiKeyId: OptionalText,
    source: Type.Union([Type.Literal('gateway'), Type.Literal('api'), Type.Literal('evaluator')]),
    /** Milliseconds since the epoch, when the request's headers had arrived. Decides the partition. */
    createdAtMs: Type.Integer(),
    /** When the last byte of the answer had arrived. */
    answeredAtMs: Type.Integer(),
    /** From call to last byte, on the monotonic clock. */
    latencyMs: Type.Number(),
    /** From call to the first chunk of a stream; null when the answer was not streamed. */
    ttftMs: OptionalMs,
    path: Type.String(),
    /** Upper case: OPENAI, AZURE, … */
    provider: Type.String(),
    /** The model as asked for: a name, `provider/model`, a list, a group. */
    requestModel: OptionalText,
    /** As the provider was asked for it; absent: by the same name. */
    routedModel: Type.Optional(Type.String()),
    /** As the client saw it; 0 of a call that was interrupted: its gateway was killed, and nobody knows more. */
    status: Type.Integer(),
    stream: Type.Boolean(),
    /** The answer ended before its end: the provider died or the client left. */
    truncated: Type.Boolean(),
    /** A code of ours when the gateway itself answered, `interrupted` when nobody did, else null. */
    errorCode: OptionalText,
    contentType: OptionalText,
    contentEncoding: OptionalText,
    userId: OptionalText,
    sessionId: OptionalText,
    sessionPath: OptionalText,
    sessionName: OptionalText,
    promptId: OptionalText,
    experimentId: OptionalText,
    /** Name and value as sent, in order. */
    properties: Type.Array(Type.Tuple([Type.String(), Type.String()])),
    omitRequest: Type.Boolean(),
    omitResponse: Type.Boolean(),
    /** The request whose stored answer this one got; absent: the provider was called. */
    cachedFrom: Type.Optional(Type.String()),
    /** Every try in order, the one that was answered last; absent: there was one. */
    attempts: Type.Optional(Type.Array(Attempt, { maxItems: 100 })),
  },
  { additionalProperties: false },
);
export type LogEntryHead = Static<typeof LogEntryHead>;

/** Checks a head that comes from disk or another process. */
export const logEntryHeadChecker: Checker<typeof LogEntryHead> = Compile(LogEntryHead);
