import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable, Timestamp } from './shapes.ts';

const Text = Nullable(Type.String());
const Whole = Nullable(Type.Integer());
const Properties = Type.Record(Type.String(), Type.String());
const AnyObject = Type.Object({});

/** A logged request, as every endpoint of the management API shows it: these fields, in this order. */
export const RequestRecord = Type.Object(
  {
    request_id: Type.String(),
    request_created_at: Timestamp,
    request_body: Type.Object(
      {},
      {
        description: 'As sent; {} when it was left out on request, {"text": …} when it was not a JSON object',
      },
    ),
    request_path: Type.String(),
    request_user_id: Text,
    request_properties: Type.Union([Properties, Type.Null()], {
      description: 'As sent with the request; null when there were none',
    }),
    request_model: Text,
    response_id: Text,
    response_created_at: Nullable(Timestamp),
    response_body: AnyObject,
    response_status: Type.Integer(),
    response_model: Text,
    provider: Type.String({ description: 'In upper case' }),
    model: Type.String({ description: 'The model that responded, else the requested one' }),
    delay_ms: Nullable(Type.Integer(), 'Milliseconds from the call to the last byte'),
    time_to_first_token: Nullable(Type.Integer(), 'Milliseconds from the call to the first byte of a stream'),
    total_tokens: Whole,
    prompt_tokens: Whole,
    completion_tokens: Whole,
    cost: Nullable(Type.Number(), 'USD; null when the model has no known price'),
    prompt_id: Text,
    prompt_version: Text,
    feedback_rating: Nullable(Type.Boolean()),
    scores: Type.Union([Type.Record(Type.String(), Type.Number()), Type.Null()]),
    properties: Type.Record(Type.String(), Type.String(), {
      description:
        'Those of the request and those added later, of which one replaces another that is equal ignoring case',
    }),
    inputs: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Prompt variables; only when the query has includeInputs',
      }),
    ),
    expected: Type.Optional(
      Type.Unknown({
        description:
          'What the answer should have been, null: not known; only when the query has includeExpected',
      }),
    ),
  },
  { ...closed, $id: 'RequestRecord' },
);
export type RequestRecord = Static<typeof RequestRecord>;
