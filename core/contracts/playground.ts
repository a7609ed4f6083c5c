/** Calls of the playground, and the models that they can use. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable, OneOf } from './shapes.ts';

/** The gateway's endpoints that answer a conversation. */
const PLAYGROUND_PATHS = ['/v1/chat/completions', '/v1/messages', '/v1/responses'] as const;
type PlaygroundPath = (typeof PLAYGROUND_PATHS)[number];

const MAX_VALUE_LENGTH = 1_024;
const MAX_PROPERTIES = 20;

/** A value of a header: one line. */
const Value = (description: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_VALUE_LENGTH,
      pattern: '^[^\\x00-\\x1f\\x7f]+$',
      rule: `must be a line of 1 to ${MAX_VALUE_LENGTH} characters`,
      description,
    }),
  );

export const PlaygroundBody = Type.Object(
  {
    path: Type.Optional(
      Type.Unsafe<PlaygroundPath>({
        ...OneOf(PLAYGROUND_PATHS),
        description: "The gateway's endpoint. Default: /v1/chat/completions",
      }),
    ),
    body: Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'The body of the call, which the gateway gets as it is written here; `stream`, `prompt_id` and `inputs` included',
      },
    ),
    user_id: Value('As the header Service-User-Id'),
    session_id: Value('As the header Service-Session-Id'),
    session_name: Value('As the header Service-Session-Name'),
    session_path: Value('As the header Service-Session-Path'),
    properties: Type.Optional(
      Type.Record(
        Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$" }),
        Type.String({ maxLength: MAX_VALUE_LENGTH, pattern: '^[^\\x00-\\x1f\\x7f]*$' }),
        {
          additionalProperties: false,
          maxProperties: MAX_PROPERTIES,
          description: 'Properties of the request, as the headers Service-Property-<name>',
        },
      ),
    ),
    cache: Type.Optional(
      Type.Boolean({ description: 'True: a stored response is used where there is one. Default: false' }),
    ),
  },
  closed,
);
export type PlaygroundBody = Static<typeof PlaygroundBody>;

const Price = (what: string) => Nullable(Type.Number(), `US dollars for a million tokens of ${what}`);

/** The models that calls of the organization can use. */
export const ModelsJson = Type.Object(
  {
    models: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'The name that calls use' }),
          provider: Type.String(),
          title: Type.String(),
          owned_by: Type.String(),
          input_price: Price('input'),
          output_price: Price('output'),
        },
        { ...closed, $id: 'Model' },
      ),
      { description: 'Chat models with a price, by id' },
    ),
    groups: Type.Array(Type.Object({ id: Type.String(), models: Type.Array(Type.String()) }, closed), {
      description: 'Names of MODELS_FILE that stand for several models',
    }),
    providers: Type.Array(Type.String(), {
      description: 'Those whose other models can be called, too, as `provider/model`',
    }),
  },
  { ...closed, $id: 'Models' },
);
export type ModelsJson = Static<typeof ModelsJson>;
