/** `GET /openapi.json`: what the gateway's port serves. Bodies are the providers' own, described and never validated. */
import { Elysia } from 'elysia';
import { type DocumentedRoute, type JsonSchema, openApiDocument } from '#core/contracts/openapi.ts';
import { Reply } from '#platform/http-server/mod.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { API_ENDPOINTS } from '../endpoints/endpoint.ts';
import { ANTHROPIC_ERRORS } from '../endpoints/error-format.ts';
import { takesPrompts } from '../prompts/mod.ts';
import { idHeaders } from '../response/reply.ts';

const MODELS = ['/v1/models', '/models'];
const NULLABLE_TEXT = { type: ['string', 'null'] };

const OPENAI_FAILURE = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        message: { type: 'string' },
        type: { type: 'string' },
        param: NULLABLE_TEXT,
        code: NULLABLE_TEXT,
      },
      required: ['message', 'type', 'param', 'code'],
    },
  },
  required: ['error'],
};

const ANTHROPIC_FAILURE = {
  type: 'object',
  properties: {
    type: { const: 'error' },
    error: {
      type: 'object',
      properties: { type: { type: 'string' }, message: { type: 'string' } },
      required: ['type', 'message'],
    },
  },
  required: ['type', 'error'],
};

const json = (schema: JsonSchema) => ({ 'application/json': { schema } });
/** A provider's own body. */
const ANY_OBJECT = { type: 'object', description: "As in the provider's own API; passed on as it comes" };

/** The members of a body that are the gateway's own: they name a stored prompt, and never reach a provider. */
const PROMPT_FIELDS = {
  prompt_id: {
    type: 'string',
    description:
      'The id of a stored prompt, whose messages come before those of the body; other fields of the body win',
  },
  version_id: { type: ['string', 'null'], description: 'The id of a version; excludes environment' },
  environment: {
    type: ['string', 'null'],
    description: 'The environment whose version is used; without it and version_id: production',
  },
  inputs: { type: ['object', 'null'], description: "Values of the prompt's variables, by name" },
};

const calls: readonly DocumentedRoute[] = API_ENDPOINTS.flatMap(
  ({ addresses, providerEndpoint, errors, canStream }) =>
    addresses.map((path) => ({
      method: 'POST',
      path,
      hooks: {
        detail: {
          tags: ['Calls'],
          summary: `Calls the provider of the body's model: ${providerEndpoint}`,
          security: [{ apiKey: ['gateway'] }],
          requestBody: {
            required: true,
            content: json(
              takesPrompts(providerEndpoint) ? { ...ANY_OBJECT, properties: PROMPT_FIELDS } : ANY_OBJECT,
            ),
          },
          responses: {
            '200': {
              description: "The provider's response",
              content: {
                ...json(ANY_OBJECT),
                ...(canStream ? { 'text/event-stream': { schema: { type: 'string' } } } : {}),
              },
            },
            ...(errors === ANTHROPIC_ERRORS
              ? { default: { description: 'Failure', content: json(ANTHROPIC_FAILURE) } }
              : {}),
          },
        },
      },
    })),
);

const models: readonly DocumentedRoute[] = MODELS.flatMap((path) => [
  model(path, 'Lists the chat models that can be called; needs no key'),
  model(`${path}/:id`, 'Returns one model, whose id may have slashes; needs no key'),
]);

function model(path: string, summary: string): DocumentedRoute {
  return { method: 'GET', path, hooks: { detail: { tags: ['Models'], summary } } };
}

const DOCUMENTED_ROUTES: readonly DocumentedRoute[] = [
  ...calls,
  ...models,
  {
    method: 'GET',
    path: '/openapi.json',
    hooks: { detail: { tags: ['This document'], summary: 'Returns this document; needs no key' } },
  },
];

function documentText(): string {
  return JSON.stringify(
    openApiDocument({
      title: 'Assay gateway',
      description: 'The APIs of LLM providers behind one address, with logging, limits, cache and fallback.',
      version: '1',
      failure: OPENAI_FAILURE,
      routes: DOCUMENTED_ROUTES,
    }),
  );
}

export function documentRoute() {
  let text: string | null = null;
  return new Elysia({ name: 'gateway/document' }).get('/openapi.json', () => {
    text ??= documentText();
    const headers = [...idHeaders(newRequestId()), ['content-type', 'application/json'] as [string, string]];
    return new Reply(text, { status: 200, headers });
  });
}
