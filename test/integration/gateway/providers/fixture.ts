/**
 * Recorded exchanges with providers: what a client sent, what the provider must have received, what it answered, and
 * what the client and the log must have got. Shapes are those of the sources that each file names, texts are made up.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { type Static, Type } from '@sinclair/typebox';
import { Compile, explain } from '#core/contracts/check.ts';
import { PROVIDER_NAMES, type ProviderName } from '#core/contracts/provider.ts';

const closed = { additionalProperties: false };
const Json = Type.Record(Type.String(), Type.Unknown());
const Headers = Type.Record(Type.String(), Type.String());

/** An event as it is on the wire, or its data, which is sent as one line. */
const Event = Type.Union([Type.String(), Json]);

const Body = Type.Union([
  Type.Object({ json: Json }, closed),
  /** Exactly this text: where spaces and line ends are the point. */
  Type.Object({ text: Type.String() }, closed),
  /** With `named`, the `type` of an event's data is its name too. */
  Type.Object({ events: Type.Array(Event), named: Type.Optional(Type.Literal(true)) }, closed),
]);

/** Columns of the record. What is left out is not looked at. */
const Recorded = Type.Partial(
  Type.Object({
    status: Type.Integer(),
    provider: Type.String(),
    response_model: Type.String(),
    model: Type.String(),
    response_id: Type.String(),
    is_stream: Type.Boolean(),
    truncated: Type.Boolean(),
    error_code: Type.Union([Type.String(), Type.Null()]),
    prompt_tokens: Type.Union([Type.Integer(), Type.Null()]),
    completion_tokens: Type.Union([Type.Integer(), Type.Null()]),
    total_tokens: Type.Union([Type.Integer(), Type.Null()]),
    /** At the prices of world.ts. */
    cost_nano: Type.Union([Type.Integer(), Type.Null()]),
    usage_estimated: Type.Boolean(),
  }),
  closed,
);

const Fixture = Type.Object(
  {
    /** Ends a sentence that begins with the provider. */
    shows: Type.String({ minLength: 1 }),
    /** Where the shape is from. */
    source: Type.Array(Type.String({ pattern: '^https://' }), { minItems: 1 }),
    /** Variables of the gateway that differ from those of world.ts. */
    environment: Type.Optional(Headers),
    call: Type.Object({ path: Type.String(), headers: Type.Optional(Headers), body: Json }, closed),
    sent: Type.Object(
      {
        /** The whole address, as without a variable that overrides it. */
        url: Type.String(),
        /** Of the three that carry keys, these and no others. `<key>` stands for the operator's. */
        headers: Headers,
        /** Members of the client's body that were set, or left out; not a byte of it else has changed. */
        sets: Type.Optional(Json),
        drops: Type.Optional(Type.Array(Type.String())),
      },
      closed,
    ),
    answer: Type.Object(
      {
        status: Type.Integer(),
        headers: Headers,
        body: Body,
        /** The connection is closed after the last byte, in the middle of the stream. */
        ending: Type.Optional(Type.Literal('cut')),
      },
      closed,
    ),
    /** Where the client does not get exactly what the provider sent. */
    client: Type.Optional(
      Type.Object(
        {
          /** The events that it does not get, by their place. */
          hides: Type.Optional(Type.Array(Type.Integer())),
          /** The code of the error that it gets as the last event. */
          breaksOff: Type.Optional(Type.String()),
        },
        closed,
      ),
    ),
    record: Recorded,
    /** Places in the record's response body, with dots, and what stands there; null: nothing. */
    response: Type.Optional(Json),
  },
  closed,
);
export type Fixture = Static<typeof Fixture> & { provider: ProviderName; name: string };

const FOLDER = new URL('../../../support/fixtures/gateway/providers/', import.meta.url);
const checker = Compile(Fixture);

/**
 * All fixtures, by provider and name.
 * @throws Error that names the file and the place in it that breaks the schema
 */
export function readFixtures(): Fixture[] {
  return PROVIDER_NAMES.flatMap((provider) => {
    const folder = new URL(`${provider}/`, FOLDER);
    return readdirSync(folder)
      .sort()
      .map((file) => readFixture(provider, file, new URL(file, folder)));
  });
}

function readFixture(provider: ProviderName, file: string, url: URL): Fixture {
  const value: unknown = JSON.parse(readFileSync(url, 'utf8'));
  if (!checker.Check(value)) {
    const error = checker.Errors(value).First();
    throw new Error(`${provider}/${file}: ${error === undefined ? 'is no fixture' : explain(error)}`);
  }
  return { ...value, provider, name: file.replace(/\.json$/, '') };
}
