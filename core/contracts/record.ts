import { type Static, type TSchema, Type } from '@sinclair/typebox';

const Nullable = <T extends TSchema>(type: T) => Type.Union([type, Type.Null()]);
const Text = Nullable(Type.String());
const Whole = Nullable(Type.Integer());
const Properties = Type.Record(Type.String(), Type.String());
/** RFC 3339, UTC, with milliseconds. */
const Timestamp = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' });
/** Any JSON object. */
const Body = Type.Object({});

/** A logged request, as every endpoint of the management API shows it: these fields, in this order. */
export const RequestRecord = Type.Object(
  {
    request_id: Type.String(),
    request_created_at: Timestamp,
    /** As sent; `{}` when the caller asked to leave it out, `{"text": …}` when it was not a JSON object. */
    request_body: Body,
    request_path: Type.String(),
    request_user_id: Text,
    /** As sent with the request; null when there were none. */
    request_properties: Type.Union([Properties, Type.Null()]),
    request_model: Text,
    response_id: Text,
    response_created_at: Nullable(Timestamp),
    response_body: Body,
    response_status: Type.Integer(),
    response_model: Text,
    /** Upper case. */
    provider: Type.String(),
    /** The model that answered, else the one asked for. */
    model: Type.String(),
    /** Milliseconds from call to last byte. */
    delay_ms: Whole,
    /** Milliseconds from call to first byte of a stream. */
    time_to_first_token: Whole,
    total_tokens: Whole,
    prompt_tokens: Whole,
    completion_tokens: Whole,
    /** USD; null when the model has no known price. */
    cost: Nullable(Type.Number()),
    prompt_id: Text,
    prompt_version: Text,
    feedback_rating: Nullable(Type.Boolean()),
    scores: Type.Union([Type.Record(Type.String(), Type.Number()), Type.Null()]),
    /** Those of the request and those added later; an added one takes the place of one that is equal ignoring case. */
    properties: Properties,
    /** Prompt variables; only when the query asks for them. */
    inputs: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: false },
);
export type RequestRecord = Static<typeof RequestRecord>;
