import { Type } from '@sinclair/typebox';
import t from 'tap';
import { type DocumentedRoute, openApiDocument } from '#core/contracts/openapi.ts';
import { OneOf } from '#core/contracts/shapes.ts';

const documentOf = (routes: DocumentedRoute[]) =>
  openApiDocument({
    title: 'T',
    description: 'D',
    version: '1',
    failure: Type.Object({ error: Type.String() }, { $id: 'Failure' }),
    routes,
  });
const summary = 'Does something';

t.test('a route without a summary and a hidden one are not in the document', (t) => {
  const { paths } = documentOf([
    { method: 'GET', path: '/a', hooks: {} },
    { method: 'GET', path: '/b', hooks: { detail: { summary, hide: true } } },
    { method: 'GET', path: '/c', hooks: { detail: { summary } } },
  ]);
  t.same(Object.keys(paths), ['/c']);
  t.end();
});

t.test(
  'parameters of a path are required texts unless the route declares them, those of a query where the route requires them',
  (t) => {
    const { paths } = documentOf([
      {
        method: 'GET',
        path: '/a/:id/b/:name',
        hooks: {
          detail: { summary },
          params: { shape: Type.Object({ id: Type.String({ format: 'uuid' }) }) },
          query: { shape: Type.Object({ since: Type.Optional(Type.String()), of: Type.String() }) },
        },
      },
    ]);
    t.strictSame(JSON.parse(JSON.stringify(paths['/a/{id}/b/{name}']?.get?.parameters)), [
      { name: 'id', in: 'path', required: true, schema: { format: 'uuid', type: 'string' } },
      { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'since', in: 'query', required: false, schema: { type: 'string' } },
      { name: 'of', in: 'query', required: true, schema: { type: 'string' } },
    ]);
    t.end();
  },
);

t.test('a named schema is a component, once, and is referred to', (t) => {
  const Thing = Type.Object({ rule: Type.String({ pattern: 'a', rule: 'must be a' }) }, { $id: 'Thing' });
  const { paths, components } = documentOf([
    {
      method: 'POST',
      path: '/a',
      hooks: {
        detail: { summary },
        body: { shape: Thing, example: { rule: 'a' } },
        response: { shape: Type.Array(Thing) },
      },
    },
  ]);
  t.same(Object.keys(components.schemas), ['Failure', 'Thing']);
  t.strictSame(
    JSON.parse(JSON.stringify(components.schemas.Thing)),
    { type: 'object', properties: { rule: { pattern: 'a', type: 'string' } }, required: ['rule'] },
    'keywords of our own are left out, fields of the same name are not',
  );
  t.strictSame(JSON.parse(JSON.stringify(paths['/a']?.post?.requestBody)), {
    required: true,
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/Thing' }, example: { rule: 'a' } },
    },
  });
  t.end();
});

t.test('an object of any members has additionalProperties, which generators of clients need', (t) => {
  const shape = Type.Object({
    body: Type.Object({}),
    none: Type.Object({}, { additionalProperties: false }),
    some: Type.Object({ a: Type.String() }),
  });
  const { components } = documentOf([
    {
      method: 'GET',
      path: '/a',
      hooks: { detail: { summary }, response: { shape: { ...shape, $id: 'Reply' } } },
    },
  ]);
  t.strictSame((components.schemas.Reply as { properties: object }).properties, {
    body: { type: 'object', additionalProperties: true },
    none: { type: 'object', properties: {}, additionalProperties: false },
    some: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
  });
  t.end();
});

t.test('a tuple has prefixItems, because a list in items makes an OpenAPI 3.1 document invalid', (t) => {
  const shape = Type.Tuple([Type.Integer(), Type.String()], { $id: 'Pair' });
  const { components } = documentOf([
    { method: 'GET', path: '/a', hooks: { detail: { summary }, response: { shape } } },
  ]);
  t.strictSame(components.schemas.Pair, {
    type: 'array',
    minItems: 2,
    maxItems: 2,
    prefixItems: [{ type: 'integer' }, { type: 'string' }],
  });
  t.end();
});

t.test('literals are an enum, and a record of any names has additionalProperties', (t) => {
  const shape = Type.Object({ one: OneOf(['a', 'b']), all: Type.Record(Type.String(), Type.Number()) });
  const { components } = documentOf([
    {
      method: 'GET',
      path: '/a',
      hooks: { detail: { summary }, response: { shape: { ...shape, $id: 'Reply' } } },
    },
  ]);
  t.match(components.schemas.Reply, {
    properties: {
      one: { type: 'string', enum: ['a', 'b'] },
      all: { type: 'object', additionalProperties: { type: 'number' } },
    },
  });
  t.end();
});
