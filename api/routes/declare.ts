/**
 * Schemas that Elysia takes from a route. They bypass Elysia's own compilation of TypeBox, through its interface for other
 * libraries (Standard Schema), for three reasons: its ValidationError writes the whole body into its message, which may be
 * a provider's key, and runs out of stack on a deep one; it builds an example value and up to 64 errors where one sentence
 * is sent; and it silently adds `additionalProperties` to schemas.
 */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Compile, parseWith } from '#core/contracts/check.ts';
import type { DeclaredSchema } from '#core/contracts/openapi.ts';
import { PROVIDER_NAMES, type ProviderName } from '#core/contracts/provider.ts';
import { OneOf } from '#core/contracts/shapes.ts';
import { readBody } from '#platform/http-server/mod.ts';
import { readUuid, readWholeId } from '../ids.ts';
import { readProvider } from '../provider-keys/mod.ts';
import { readDeliveryId } from '../webhooks/mod.ts';
import { type JsonBodyOptions, readJsonBody } from './json-body.ts';

/** A schema that a route declares: `shape` describes the JSON, and the handler gets an `Output`. */
export type Declared<Output> = DeclaredSchema & {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'assay';
    /** Throws an AssayError instead of returning issues. */
    readonly validate: (value: unknown) => { value: Output } | Promise<{ value: Output }>;
    readonly types?: { readonly input: unknown; readonly output: Output };
  };
};

/** Makes a schema that Elysia checks by `validate`. */
function declare<Output>(
  declared: DeclaredSchema,
  validate: Declared<Output>['~standard']['validate'],
): Declared<Output> {
  return { ...declared, '~standard': { version: 1, vendor: 'assay', validate } };
}

/** The JSON body of a request, by default of at most 1 MiB: read and checked once the caller is known. */
export function jsonBody<T extends TSchema>(
  shape: T,
  example: Static<T>,
  options: Pick<JsonBodyOptions, 'maxBytes'> = {},
): Declared<Static<T>> {
  const checker = Compile(shape);
  return declare({ shape, example }, async (request) => {
    const { value } = await readJsonBody(request as Request, options);
    return { value: parseWith(checker, value) };
  });
}

/** The same, with the original text of some members beside it; null where there is none. See `readJsonBody`. */
export function jsonBodyAsWritten<T extends TSchema>(
  shape: T,
  example: Static<T>,
  options: JsonBodyOptions,
): Declared<{ body: Static<T>; written: readonly (Buffer | null)[] }> {
  const checker = Compile(shape);
  return declare({ shape, example }, async (request) => {
    const { value, written } = await readJsonBody(request as Request, options);
    return { value: { body: parseWith(checker, value), written } };
  });
}

/**
 * The JSON of a success: `{"data": …, "error": null}`. It is not checked when it is sent, which would cost CPU and could
 * only turn a success into a failure. The tests check every reply.
 */
export function reply<T extends TSchema>(data: T): Declared<Static<T>> {
  const shape = Type.Object({ data, error: Type.Null() }, { additionalProperties: false });
  return declare({ shape }, (value) => ({ value: value as Static<T> }));
}

/**
 * Largest body of another protocol, whose library parses it in one go: 1 MiB that is nested 400,000 levels deep blocks all
 * other requests for 100 ms.
 */
const MAX_FOREIGN_BYTES = 256 * 1024;

/** A body of another protocol, at most 256 KiB, as bytes: its library checks it. `shape` is for readers of the document. */
export function foreignBody(shape: TSchema, example: unknown): Declared<Buffer> {
  return declare({ shape, example }, async (request) => ({
    value: await readBody(request as Request, MAX_FOREIGN_BYTES),
  }));
}

/** The answer of another protocol, which the route's `detail` describes. */
export function foreignReply(): Declared<Response> {
  return declare({ shape: Type.Unknown() }, (value) => ({ value: value as Response }));
}

/** A success that is no JSON but text, in one of these media types, each with its description. */
export function textReply(media: Readonly<Record<string, string>>): Declared<string> {
  const types = Object.entries(media).map(([type, description]) => [type, Type.String({ description })]);
  const declared = { shape: Type.String(), media: Object.fromEntries(types) };
  return declare(declared, (value) => ({ value: value as string }));
}

/** The body of every failure. */
export const Failure = Type.Object(
  {
    data: Type.Null(),
    error: Type.String({ description: 'One sentence. The status tells its kind: docs/errors.md' }),
  },
  { additionalProperties: false, $id: 'Failure' },
);

/** The parameters in the query of a URL, as texts: `authorized` has read them. */
export function parameters<T extends TSchema>(shape: T): Declared<Static<T>> {
  const checker = Compile(shape);
  return declare({ shape }, (query) => ({ value: parseWith(checker, query) }));
}

const Uuid = Type.String({ format: 'uuid' });
const WholeId = Type.String({ pattern: '^[1-9][0-9]{0,17}$' });

/** The ids in a path, each a UUID of the thing its value names. A text that cannot be an id is as unknown as a missing one. */
export function uuids<Name extends string>(
  names: Readonly<Record<Name, string>>,
): Declared<Record<Name, string>> {
  const entries = Object.entries(names) as [Name, string][];
  const shape = Type.Object(Object.fromEntries(entries.map(([name]) => [name, Uuid])));
  return declare({ shape }, (params) => {
    const given = params as Record<Name, string>;
    const read = entries.map(([name, what]) => [name, readUuid(what, given[name])] as const);
    return { value: Object.fromEntries(read) as Record<Name, string> };
  });
}

/** The id in a path of what has whole numbers for ids, named by `what`. */
export function wholeId(what: string): Declared<{ id: string }> {
  return declare({ shape: Type.Object({ id: WholeId }) }, (params) => ({
    value: { id: readWholeId(what, (params as { id: string }).id) },
  }));
}

/** The UUID of a thing named by `what`, and the id of a part of it, a text of any form, in a path. */
export function idAndName<Name extends string>(
  what: string,
  name: Name,
): Declared<{ id: string } & Record<Name, string>> {
  return declare({ shape: Type.Object({ id: Uuid, [name]: Type.String() }) }, (params) => {
    const given = params as { id: string } & Record<Name, string>;
    return { value: { ...given, id: readUuid(what, given.id) } };
  });
}

/** The ids of a webhook and of a delivery of it in a path. */
export const deliveryOfWebhook: Declared<{ id: string; deliveryId: string }> = declare(
  { shape: Type.Object({ id: Uuid, deliveryId: Type.String() }) },
  (params) => {
    const { id, deliveryId } = params as { id: string; deliveryId: string };
    return { value: { id: readUuid('webhook', id), deliveryId: readDeliveryId(deliveryId) } };
  },
);

/** The provider in a path. */
export const provider: Declared<{ provider: ProviderName }> = declare(
  { shape: Type.Object({ provider: OneOf(PROVIDER_NAMES) }) },
  (params) => ({ value: { provider: readProvider((params as { provider: string }).provider) } }),
);
