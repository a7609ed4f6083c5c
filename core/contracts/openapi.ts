/**
 * The OpenAPI document of a port, made from the routes that the port serves: the schemas that routes validate by are the
 * schemas of the document. Pure.
 */

/** JSON Schema, as TypeBox makes it. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A schema that a route declares for its body or its reply. */
export type DeclaredSchema = {
  shape: JsonSchema;
  example?: unknown;
  /** The schema of each media type, in place of `shape` as JSON. */
  media?: Readonly<Record<string, JsonSchema>>;
};

/** The description of a route; other members of an OpenAPI operation are copied unchanged. */
export type RouteDetail = { summary?: string; hide?: boolean; [member: string]: unknown };

/** The members of an Elysia route that the document needs. */
export type DocumentedRoute = {
  method: string;
  path: string;
  hooks: {
    body?: DeclaredSchema;
    params?: DeclaredSchema;
    query?: DeclaredSchema;
    response?: DeclaredSchema;
    detail?: RouteDetail;
  };
};

/** The contents of a document. */
export type OpenApiOptions = {
  title: string;
  description: string;
  /** The version of the API, not of the program that serves it. */
  version: string;
  /** The body of every failure. */
  failure: JsonSchema;
  routes: readonly DocumentedRoute[];
};

/** An OpenAPI 3.1 document. */
export type OpenApiDocument = {
  openapi: '3.1.0';
  info: { title: string; description: string; version: string };
  paths: Record<string, Record<string, JsonSchema>>;
  components: { schemas: Record<string, unknown>; securitySchemes: JsonSchema };
};

const JSON_TYPE = 'application/json';
/** Keywords of ours, and the `$id` that a component's name replaces. */
const LEFT_OUT = new Set(['$id', 'rule', 'nameRule', 'unquoted']);

/** Keywords whose value holds schemas by name. */
const BY_NAME = new Set(['properties', 'patternProperties']);

/** Schemas with an `$id`: the document holds each once, as a component, and refers to it. */
type Components = Map<string, unknown>;

/** Returns the OpenAPI 3.1 document of these routes, in the order of the routes. */
export function openApiDocument(options: OpenApiOptions): OpenApiDocument {
  const { title, description, version, failure, routes } = options;
  const components: Components = new Map();
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routes) {
    if (route.hooks.detail?.hide === true || route.hooks.detail?.summary === undefined) continue;
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{path}');
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operationOf(route, path, failure, components),
    };
  }
  const schemas = Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1)));
  const apiKey = {
    type: 'http',
    scheme: 'bearer',
    description: 'An Assay key, as `Authorization: Bearer <key>`',
  };
  return {
    openapi: '3.1.0',
    info: { title, description, version },
    paths,
    components: { schemas, securitySchemes: { apiKey } },
  };
}

function operationOf(
  { hooks }: DocumentedRoute,
  path: string,
  failure: JsonSchema,
  components: Components,
): JsonSchema {
  const { body, params, query, response, detail } = hooks;
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
      name,
      in: 'path',
      required: true,
      schema: plain(propertiesOf(params)[name] ?? { type: 'string' }, components),
    })),
    ...Object.entries(propertiesOf(query)).map(([name, schema]) => ({
      name,
      in: 'query',
      required: requiredOf(query).includes(name),
      schema: plain(schema, components),
    })),
  ];
  const success =
    response === undefined ? { description: 'Success' } : content('Success', response, components);
  return {
    ...detail,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, ...content(undefined, body, components) } }),
    responses: {
      '200': success,
      default: content('Failure, with the status of its code', { shape: failure }, components),
      ...(detail?.responses as object | undefined),
    },
  };
}

function propertiesOf(declared: DeclaredSchema | undefined): Record<string, JsonSchema> {
  return (declared?.shape.properties ?? {}) as Record<string, JsonSchema>;
}

function requiredOf(declared: DeclaredSchema | undefined): readonly string[] {
  return (declared?.shape.required ?? []) as readonly string[];
}

function content(
  description: string | undefined,
  { shape, example, media = { [JSON_TYPE]: shape } }: DeclaredSchema,
  components: Components,
) {
  const types = Object.entries(media).map(([type, schema]) => [
    type,
    { schema: plain(schema, components), ...(example === undefined ? {} : { example }) },
  ]);
  return { ...(description === undefined ? {} : { description }), content: Object.fromEntries(types) };
}

/** Returns a schema as the document shows it: without keywords of ours, literals as enums, named schemas by reference. */
function plain(schema: unknown, components: Components): unknown {
  if (Array.isArray(schema)) return schema.map((item) => plain(item, components));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $id: name, $ref: reference } = schema as JsonSchema;
  // A recursive schema refers to itself by its name.
  if (typeof reference === 'string') {
    // TypeBox refers to a schema by its name, a schema written by hand by its place.
    return { $ref: reference.startsWith('#/') ? reference : `#/components/schemas/${reference}` };
  }
  if (typeof name !== 'string') return withoutNames(schema as JsonSchema, components);
  if (!components.has(name)) {
    // Set before it is filled: a schema may refer to itself.
    components.set(name, null);
    components.set(name, withoutNames(schema as JsonSchema, components));
  }
  return { $ref: `#/components/schemas/${name}` };
}

function withoutNames(schema: JsonSchema, components: Components): JsonSchema {
  const { anyOf, ...rest } = schema;
  const constants = Array.isArray(anyOf) ? anyOf.map((option: JsonSchema) => option.const) : [];
  const isEnum = constants.length > 0 && !constants.includes(undefined);
  const known = isEnum ? { type: 'string', enum: constants, ...rest } : schema;
  return Object.fromEntries(
    Object.entries(withPrefixItems(withOpenObjects(withPlainRecords(known))))
      .filter(([keyword]) => !LEFT_OUT.has(keyword))
      .map(([keyword, value]) => [
        keyword,
        BY_NAME.has(keyword) ? each(value, components) : plain(value, components),
      ]),
  );
}

/** TypeBox's pattern for a record whose names may be any text. */
const ANY_NAME = '^(.*)$';

/** Returns a schema with `additionalProperties` for such a record, which generators of clients read better. */
function withPlainRecords(schema: JsonSchema): JsonSchema {
  const { patternProperties, ...rest } = schema;
  const values = (patternProperties as JsonSchema | undefined)?.[ANY_NAME];
  return values === undefined ? schema : { ...rest, additionalProperties: values };
}

/** Keywords that say which members an object has. */
const MEMBERS = ['properties', 'patternProperties', 'additionalProperties'];

/**
 * Returns a schema with `additionalProperties` for an object of any members, such as a logged body. It means the same without,
 * but generators of clients read that as an object of no members, which cannot be written and of which nothing can be read.
 */
function withOpenObjects(schema: JsonSchema): JsonSchema {
  const { properties, ...rest } = schema;
  const isOpen = Object.keys(properties ?? {}).length === 0 && !MEMBERS.some((keyword) => keyword in rest);
  return schema.type === 'object' && isOpen ? { ...rest, additionalProperties: true } : schema;
}

/**
 * Returns the schema of a tuple as JSON Schema 2020-12 has it, which OpenAPI 3.1 requires: TypeBox writes that of draft 7. Its
 * `maxItems` refuses further items; `items: false`, which would say it again, is more than some generators of clients read.
 */
function withPrefixItems(schema: JsonSchema): JsonSchema {
  const { items, additionalItems: _, ...rest } = schema;
  return Array.isArray(items) ? { ...rest, prefixItems: items } : schema;
}

/** Returns the plain schemas of an object's fields, whose names are no keywords. */
function each(schemas: unknown, components: Components): object {
  return Object.fromEntries(
    Object.entries(schemas as object).map(([name, schema]) => [name, plain(schema, components)]),
  );
}
