import { type Static, Type } from '@sinclair/typebox';
import { PROVIDER_NAMES } from '#core/contracts/provider.ts';
import {
  MAX_PROPERTIES,
  MAX_PROPERTY_NAME_LENGTH,
  MAX_PROPERTY_VALUE_LENGTH,
  named,
  nameOf,
  ScoreBody,
} from '#core/contracts/query.ts';
import { closed, Nullable } from '#core/contracts/shapes.ts';

/** Null is the same as absent, because records show null where there is no value. */
const Text = Type.Optional(Nullable(Type.String()));
/** Any JSON object. */
const AnyObject = Type.Object({});
/** `readMoment` checks the value, and refuses it with one sentence. */
const Moment = Type.Unknown({ description: 'RFC 3339, or milliseconds since the epoch' });

const Path = Type.Optional(
  Nullable(Type.String({ pattern: '^(/[\\s\\S]*)?$', rule: 'must begin with "/"' })),
);

/** `POST /v1/log/request`: a request that was made elsewhere, and its response. */
export const LogRequestBody = Type.Object(
  {
    provider: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$',
      rule:
        `must be one of ${PROVIDER_NAMES.join(', ')}, or another name of 1 to 64 letters, digits, spaces and "._-" ` +
        'that begins with a letter or a digit',
      description: 'One that Assay knows gives the request a price. In any case',
    }),
    model: Type.String({ minLength: 1, description: 'As requested' }),
    request: Type.Object({ body: AnyObject, path: Path, created_at: Moment }, closed),
    response: Type.Object(
      {
        body: Type.Union([AnyObject, Type.String()], {
          description: 'The response, or its text as it came: an event stream is assembled',
        }),
        status: Type.Integer({ minimum: 0, maximum: 599, description: '0: no response came' }),
        /** The time at which the last byte arrived. */
        created_at: Moment,
      },
      closed,
    ),
    timing: Type.Optional(
      Type.Object(
        { time_to_first_token: Type.Optional(Type.Number({ minimum: 0, description: 'Milliseconds' })) },
        closed,
      ),
    ),
    user_id: Text,
    properties: Type.Optional(
      Nullable(
        Type.Record(nameOf(MAX_PROPERTY_NAME_LENGTH), Type.String({ maxLength: MAX_PROPERTY_VALUE_LENGTH }), {
          ...named(MAX_PROPERTY_NAME_LENGTH),
          maxProperties: MAX_PROPERTIES,
        }),
      ),
    ),
    session_id: Text,
    session_path: Text,
    session_name: Text,
    session: Type.Optional(
      Nullable(
        Type.Object({ id: Type.String({ minLength: 1 }), path: Text, name: Text }, closed),
        'In place of session_id, session_path and session_name',
      ),
    ),
    prompt_id: Text,
    prompt_version: Type.Optional(Nullable(Type.String(), 'The version of that prompt, such as 2.0')),
    inputs: Type.Optional(Nullable(AnyObject, 'The variables of the prompt, by name')),
    expected: Type.Optional(
      Type.Unknown({ description: 'What the answer should have been: any JSON; null: not known' }),
    ),
    scores: Type.Optional(Nullable(ScoreBody.properties.scores, 'Scores that the record begins with')),
    experiment_id: Text,
    request_id: Type.Optional(
      Nullable(
        Type.String(),
        'A UUID or ULID that the organization has not used; without one, the request gets a new one',
      ),
    ),
  },
  closed,
);
export type LogRequestBody = Static<typeof LogRequestBody>;
