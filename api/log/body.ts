import { type Static, Type } from '@sinclair/typebox';
import { type Checker, Compile } from '#core/contracts/check.ts';

const closed = { additionalProperties: false };
/** Null is the same as absent: that is what records show where there is nothing. */
const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));
/** Any JSON object. */
const AnyObject = Type.Object({});
/** A moment; what is allowed of it is said in one sentence by who reads it (`readMoment`). */
const Moment = Type.Unknown();

/** `POST /v1/log/request`: a request that was made elsewhere, and its answer. */
export const LogRequestBody = Type.Object(
  {
    /** One that Assay knows (openai, anthropic, …), which gives it a price, or any other name. In any case. */
    provider: Type.String(),
    /** As asked for. */
    model: Type.String(),
    request: Type.Object({ body: AnyObject, path: Text, created_at: Moment }, closed),
    response: Type.Object(
      {
        /** The answer, or its text as it came: an event stream of chat completion chunks is assembled. */
        body: Type.Union([AnyObject, Type.String()]),
        /** 0 when no answer came. */
        status: Type.Integer({ minimum: 0, maximum: 599 }),
        /** When the last byte had come. */
        created_at: Moment,
      },
      closed,
    ),
    /** Milliseconds. */
    timing: Type.Optional(
      Type.Object({ time_to_first_token: Type.Optional(Type.Number({ minimum: 0 })) }, closed),
    ),
    user_id: Text,
    /** Name to value, both texts. */
    properties: Type.Optional(Type.Union([AnyObject, Type.Null()])),
    session_id: Text,
    session_path: Text,
    session_name: Text,
    prompt_id: Text,
    experiment_id: Text,
    /** A UUID or ULID that the organization has not used; without one, the request gets a new one. */
    request_id: Text,
  },
  closed,
);
export type LogRequestBody = Static<typeof LogRequestBody>;

export const logRequestBodyChecker: Checker<typeof LogRequestBody> = Compile(LogRequestBody);
