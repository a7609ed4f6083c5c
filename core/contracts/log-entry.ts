import { type Static, Type } from '@sinclair/typebox';
import { type Checker, Compile } from './check.ts';
import { closed, OneOf } from './shapes.ts';

/** The error code of a call whose gateway was killed during it. */
export const INTERRUPTED = 'interrupted';

/**
 * Where calls come from: clients, requests that were made elsewhere, the dashboard, judges, experiments. Queries of
 * requests leave out judges; metrics leave out experiments too, unless their body names them.
 */
export const SOURCES = ['gateway', 'api', 'playground', 'evaluator', 'experiment'] as const;
export type Source = (typeof SOURCES)[number];

const NullableText = Type.Union([Type.String(), Type.Null()]);
const NullableMs = Type.Union([Type.Number(), Type.Null()]);

/** One attempt of a call, which may have several: at one provider again, or at another. */
const Attempt = Type.Object(
  {
    /** Upper case, as below. */
    provider: Type.String(),
    /** The model's name at this provider. */
    model: Type.String(),
    /** The status of the provider's response; 0: no response. */
    status: Type.Integer(),
    /** A code of ours when there was no response, or no usable one. */
    errorCode: NullableText,
    /** From the beginning of the attempt to its response or failure. */
    latencyMs: Type.Integer(),
  },
  closed,
);

/**
 * The head of a log entry: the facts about one call that the gateway knows when the answer is complete. The two bodies
 * travel beside it as the bytes that were sent and received; ingest parses them, the gateway does not.
 *
 * A member that is added is `Type.Optional`: outboxes and the log stream still hold entries of the version before, and ingest
 * keeps what this schema refuses as dead letters. For the same reason an ingest that does not know it yet keeps entries with
 * it as dead letters, so the changelog says to upgrade ingest first.
 */
export const LogEntryHead = Type.Object(
  {
    /** Version of this layout; readers refuse others. */
    v: Type.Literal(1),
    id: Type.String(),
    organizationId: Type.String(),
    apiKeyId: NullableText,
    source: OneOf(SOURCES),
    /** Milliseconds since the epoch, when the request's headers had arrived. Decides the partition. */
    createdAtMs: Type.Integer(),
    /** Milliseconds since the epoch, when the last byte of the answer had arrived. */
    answeredAtMs: Type.Integer(),
    /** From call to last byte, on the monotonic clock. */
    latencyMs: Type.Number(),
    /** From call to the first chunk of a stream; null when the answer was not streamed. */
    ttftMs: NullableMs,
    path: Type.String(),
    /** Upper case: OPENAI, AZURE, … */
    provider: Type.String(),
    /** The model in the client's request: a name, `provider/model`, a list, a group. */
    requestModel: NullableText,
    /** The model's name at the provider; absent: the same as in the request. */
    routedModel: Type.Optional(Type.String()),
    /** The status that the client received; 0 when the gateway was killed during the call. */
    status: Type.Integer(),
    stream: Type.Boolean(),
    /** The answer is incomplete: the provider failed or the client left. */
    truncated: Type.Boolean(),
    /** A code of ours when the gateway itself answered, `interrupted` when it was killed during the call, else null. */
    errorCode: NullableText,
    contentType: NullableText,
    contentEncoding: NullableText,
    userId: NullableText,
    sessionId: NullableText,
    sessionPath: NullableText,
    sessionName: NullableText,
    promptId: NullableText,
    experimentId: NullableText,
    /** Names and values as sent, in order. */
    properties: Type.Array(Type.Tuple([Type.String(), Type.String()])),
    omitRequest: Type.Boolean(),
    omitResponse: Type.Boolean(),
    /** The id of the request whose stored response answered this one; absent: the cache did not answer. */
    cachedFrom: Type.Optional(Type.String()),
    /**
     * All attempts at providers, in order. The last one has the answer, except with `cachedFrom`: then all failed, and the cache
     * had the answer of the next model. Absent: there was one, or with `cachedFrom` none.
     */
    attempts: Type.Optional(Type.Array(Attempt, { maxItems: 100 })),
    /** The version of the prompt of `promptId`; absent: not known. */
    promptVersion: Type.Optional(Type.String()),
    /** The variables of the prompt: JSON of an object, as text, so that its numbers stay exact. Absent: there are none. */
    inputs: Type.Optional(Type.String()),
    /** The answer that was expected: JSON, as text. Absent: not known. */
    expected: Type.Optional(Type.String()),
    /** Scores that the record is stored with; absent: none. */
    scores: Type.Optional(Type.Record(Type.String(), Type.Number())),
  },
  closed,
);
export type LogEntryHead = Static<typeof LogEntryHead>;

/** Checks a head that comes from disk or another process. */
export const logEntryHeadChecker: Checker<typeof LogEntryHead> = Compile(LogEntryHead);
