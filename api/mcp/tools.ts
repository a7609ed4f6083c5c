/** The tools of the MCP server, made from the OpenAPI document: one for each operation of the groups below. Pure. */
import type { JsonSchema, OpenApiDocument } from '#core/contracts/openapi.ts';

/**
 * The groups of routes that models may use. Keys, provider keys, webhooks and streams are left out: a model that reads hostile
 * text in a log must not be able to hand out access, nor to have the log sent elsewhere.
 */
const GROUPS = new Set([
  'Requests',
  'Sessions',
  'Users',
  'Properties and scores',
  'Metrics',
  'Prompts',
  'Evaluators',
  'Evaluations',
  'Limits',
  'System',
  'Alerts',
]);

/** A tool as a client lists it, and how it is called. */
export type ApiTool = {
  name: string;
  description: string;
  inputSchema: JsonSchema & { type: 'object' };
  /** The scope that its route asks for. */
  scope: string;
  method: string;
  /** With its parameters in braces: `/v1/request/{id}`. */
  path: string;
  /** Names of the arguments that go into the path, and into the query of the URL; the others are the body. */
  pathNames: readonly string[];
  queryNames: readonly string[];
  /** `members`: the other arguments are the members of the body; `whole`: the argument `body` is the body. */
  body: 'none' | 'members' | 'whole';
};

/** The argument of every tool that continues a cut answer. */
export const CURSOR = 'cursor';
const CURSOR_SCHEMA = { type: 'string', description: 'From the end of a cut answer: returns its next part' };

type Parameter = { name: string; in: 'path' | 'query'; required: boolean; schema: JsonSchema };
type Operation = {
  tags?: readonly string[];
  summary?: string;
  security?: readonly { apiKey?: readonly string[] }[];
  parameters?: readonly Parameter[];
  requestBody?: { content: { 'application/json'?: { schema: JsonSchema } } };
  responses: { '200'?: { content?: Record<string, unknown> } };
};

/** Returns the tools of a document, in its order. */
export function toolsOf(document: OpenApiDocument): ApiTool[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => toolOf(document, path, method, operation)),
  );
}

function toolOf(document: OpenApiDocument, path: string, method: string, schema: JsonSchema): ApiTool[] {
  const operation = schema as Operation;
  const scope = operation.security?.[0]?.apiKey?.[0];
  const isGrouped = operation.tags?.some((tag) => GROUPS.has(tag)) === true;
  const answersJson = operation.responses['200']?.content?.['application/json'] !== undefined;
  if (scope === undefined || !isGrouped || !answersJson) return [];

  const parameters = operation.parameters ?? [];
  const namesIn = (place: Parameter['in']) =>
    parameters.filter((parameter) => parameter.in === place).map(({ name }) => name);
  const pathNames = namesIn('path');
  const given = operation.requestBody?.content['application/json']?.schema;
  const bodySchema = given === undefined ? null : inlined(given, document);
  const taken = [...parameters.map(({ name }) => name), CURSOR];
  const members = (bodySchema?.properties ?? null) as Readonly<Record<string, JsonSchema>> | null;
  const isSpread = members !== null && !taken.some((name) => Object.hasOwn(members, name));
  const required = [
    ...parameters.filter((parameter) => parameter.required).map(({ name }) => name),
    ...(isSpread
      ? ((bodySchema?.required as string[] | undefined) ?? [])
      : bodySchema === null
        ? []
        : ['body']),
  ];
  const properties = {
    ...Object.fromEntries(parameters.map(({ name, schema: one }) => [name, inlined(one, document)])),
    ...(isSpread ? members : bodySchema === null ? {} : { body: bodySchema }),
    [CURSOR]: CURSOR_SCHEMA,
  };
  return [
    {
      name: toolName(method, path),
      description: `${operation.summary ?? ''} (${method.toUpperCase()} ${path})`,
      inputSchema: {
        type: 'object',
        properties,
        ...(required.length === 0 ? {} : { required }),
        additionalProperties: false,
      },
      scope,
      method: method.toUpperCase(),
      path,
      pathNames,
      queryNames: namesIn('query'),
      body: bodySchema === null ? 'none' : isSpread ? 'members' : 'whole',
    },
  ];
}

/** `GET /v1/request/{id}/delivery` becomes `get_request_by_id_delivery`. */
function toolName(method: string, path: string): string {
  const words = path
    .replace(/^\/v1\//, '')
    .replaceAll(/\{(\w+)\}/g, 'by_$1')
    .split(/[^A-Za-z0-9_]+/)
    .filter((word) => word !== '');
  return [method, ...words].join('_');
}

/**
 * Returns a schema with its references replaced by what they name. Of one that holds itself, as filters do, the description
 * stays: it says more than the schema cut off in its second round, and is read with every tool.
 */
function inlined(schema: JsonSchema, document: OpenApiDocument): JsonSchema {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref } = value as JsonSchema;
    if (typeof $ref !== 'string') {
      return Object.fromEntries(Object.entries(value).map(([keyword, one]) => [keyword, visit(one)]));
    }
    const found = document.components.schemas[$ref.replace('#/components/schemas/', '')] as JsonSchema;
    return JSON.stringify(found).includes(JSON.stringify($ref))
      ? { description: found.description }
      : visit(found);
  };
  return visit(schema) as JsonSchema;
}
