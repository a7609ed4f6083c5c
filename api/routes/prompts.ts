import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import {
  LinkedPromptVersionJson,
  NewPromptBody,
  NewPromptJson,
  NewVersionJson,
  PRODUCTION,
  PromptEnvironmentBody,
  PromptIdBody,
  PromptInputsJson,
  PromptInputsQuery,
  PromptJson,
  PromptNameBody,
  PromptQueryBody,
  PromptTagsBody,
  PromptUpdateBody,
  PromptVersionIdBody,
  PromptVersionJson,
  VersionEnvironmentBody,
  VersionsQueryBody,
  VersionTotalsJson,
  WholePromptVersionJson,
} from '#core/contracts/prompt.ts';
import type { PromptService, VersionTexts } from '../prompts/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, jsonBodyAsWritten, parameters, reply, uuids } from './declare.ts';
import { dataReply } from './reply.ts';

export type PromptRoutesOptions = { keys: Keys; prompts: PromptService };

const TAG = 'Prompts';
const prompt = uuids({ id: 'prompt' });
const version = uuids({ id: 'prompt', versionId: 'prompt version' });
const promptId = '5f0c8a52-6f7e-4b58-9f0e-0f6a3d1c2b10';
const promptVersionId = '7d9e2c41-1b1f-4f0a-8a57-3c2f5e6d7a21';
const named = { promptId, promptVersionId, environment: 'staging' };
const promptBody = {
  model: 'gpt-4o-mini',
  messages: [
    { role: 'system', content: 'Answer in {{language}}, in at most {{sentences:number}} sentences.' },
  ],
};
/** The body of a version is stored as it was written, and checked like the rest. */
const options = { asWritten: [['promptBody']], parsesAll: true };

function wholeReply({ version, body }: VersionTexts): Response {
  return dataReply(`${version.slice(0, -1)},"prompt_body":${body}}`);
}

/** Clients of the first form of the routes fetch the body from a URL. */
function linkedReply({ version, body }: VersionTexts): Response {
  const url = `data:application/json;base64,${Buffer.from(body).toString('base64')}`;
  return dataReply(`${version.slice(0, -1)},"prompt_body":${body},"s3_url":"${url}"}`);
}

/** Prompts, without their versions. */
function promptsThemselves({ keys, prompts: { prompts, environments } }: PromptRoutesOptions) {
  const reading = authorized(keys, 'read', TAG)
    .get('/v1/prompt-2025/id/:id', ({ key, params }) => prompts.get(key.organizationId, params.id), {
      params: prompt,
      response: reply(PromptJson),
      detail: { summary: 'Returns one prompt, without its versions' },
    })
    .get('/v1/prompt-2025/tags', ({ key }) => prompts.tags(key.organizationId), {
      response: reply(Type.Array(Type.String())),
      detail: { summary: 'Lists the tags of all prompts' },
    })
    .get('/v1/prompt-2025/environments', ({ key }) => environments.list(key.organizationId), {
      response: reply(Type.Array(Type.String())),
      detail: { summary: 'Lists the environments of all prompts' },
    })
    .get('/v1/prompt-2025/count', ({ key }) => prompts.count(key.organizationId), {
      response: reply(Type.Integer()),
      detail: { summary: 'Counts the prompts' },
    })
    .post('/v1/prompt-2025/query', ({ key, body }) => prompts.query(key.organizationId, body), {
      body: jsonBody(PromptQueryBody, { search: 'support', tagsFilter: [], page: 0, pageSize: 10 }),
      response: reply(Type.Array(PromptJson)),
      detail: { summary: 'Lists prompts, the newest first' },
    });
  const writing = authorized(keys, 'write', TAG)
    .post('/v1/prompt-2025', ({ key, body }) => prompts.create(key, body), {
      body: jsonBodyAsWritten(NewPromptBody, { name: 'Support', tags: ['support'], promptBody }, options),
      response: reply(NewPromptJson),
      detail: { summary: 'Stores a prompt; its version 1.0 is that of production' },
    })
    .post(
      '/v1/prompt-2025/id/:id/rename',
      ({ key, params, body }) => prompts.rename(key.organizationId, params.id, body.name),
      {
        params: prompt,
        body: jsonBody(PromptNameBody, { name: 'First-line support' }),
        response: reply(Type.Null()),
        detail: { summary: 'Renames a prompt' },
      },
    )
    .patch(
      '/v1/prompt-2025/id/:id/tags',
      ({ key, params, body }) => prompts.setTags(key.organizationId, params.id, body.tags),
      {
        params: prompt,
        body: jsonBody(PromptTagsBody, { tags: ['support', 'chat'] }),
        response: reply(Type.Array(Type.String())),
        detail: { summary: 'Sets the tags of a prompt' },
      },
    )
    .delete('/v1/prompt-2025/:id', ({ key, params }) => prompts.remove(key.organizationId, params.id), {
      params: prompt,
      response: reply(Type.Null()),
      detail: { summary: 'Deletes a prompt with all versions' },
    });
  return new Elysia({ name: 'api/prompts/prompts' }).use(reading).use(writing);
}

/** The queries for one version, in one of the two forms of their routes. */
function versionQueries(
  { keys, prompts: { versions, environments } }: PromptRoutesOptions,
  path: string,
  show: (texts: VersionTexts) => Response,
  shape: typeof LinkedPromptVersionJson | typeof WholePromptVersionJson,
) {
  const response = reply(shape);
  return authorized(keys, 'read', TAG)
    .post(
      `${path}/query/version`,
      async ({ key, body }) => show(await versions.get(key.organizationId, body.promptVersionId)),
      {
        body: jsonBody(PromptVersionIdBody, { promptVersionId }),
        response,
        detail: { summary: 'Returns one version, with its body' },
      },
    )
    .post(
      `${path}/query/environment-version`,
      async ({ key, body }) =>
        show(await environments.versionOf(key.organizationId, body.promptId, body.environment)),
      {
        body: jsonBody(PromptEnvironmentBody, { promptId, environment: PRODUCTION }),
        response,
        detail: { summary: 'Returns the version of an environment, with its body' },
      },
    )
    .post(
      `${path}/query/production-version`,
      async ({ key, body }) =>
        show(await environments.versionOf(key.organizationId, body.promptId, PRODUCTION)),
      {
        body: jsonBody(PromptIdBody, { promptId }),
        response,
        detail: { summary: 'Returns the version of production, with its body' },
      },
    );
}

/** Lists of versions, and what requests filled them with. */
function versionLists({ keys, prompts: { versions, inputsOf } }: PromptRoutesOptions) {
  return authorized(keys, 'read', TAG)
    .post('/v1/prompt-2025/query/versions', ({ key, body }) => versions.query(key.organizationId, body), {
      body: jsonBody(VersionsQueryBody, { promptId, majorVersion: 1 }),
      response: reply(Type.Array(PromptVersionJson)),
      detail: { summary: 'Lists versions of a prompt without their bodies, the highest number first' },
    })
    .post(
      '/v1/prompt-2025/query/total-versions',
      ({ key, body }) => versions.totals(key.organizationId, body.promptId),
      {
        body: jsonBody(PromptIdBody, { promptId }),
        response: reply(VersionTotalsJson),
        detail: { summary: 'Counts the versions of a prompt' },
      },
    )
    .get(
      '/v1/prompt-2025/id/:id/:versionId/inputs',
      async ({ key, params: { id, versionId }, query: { requestId } }) =>
        dataReply(await inputsOf(key.organizationId, { promptId: id, versionId, requestId })),
      {
        params: version,
        query: parameters(PromptInputsQuery),
        response: reply(PromptInputsJson),
        detail: { summary: 'Returns the inputs of a request that used a version' },
      },
    );
}

/** Making and deleting versions, and naming them by environments. */
function versionChanges({ keys, prompts: { versions, environments } }: PromptRoutesOptions) {
  const update = {
    promptId,
    promptVersionId,
    newMajorVersion: false,
    commitMessage: 'Shorter',
    promptBody,
  };
  return authorized(keys, 'write', TAG)
    .post('/v1/prompt-2025/update', ({ key, body }) => versions.add(key, body), {
      body: jsonBodyAsWritten(PromptUpdateBody, update, options),
      response: reply(NewVersionJson),
      detail: { summary: 'Stores the next version of a prompt' },
    })
    .post(
      '/v1/prompt-2025/update/environment',
      ({ key, body }) => environments.set(key.organizationId, body),
      {
        body: jsonBody(VersionEnvironmentBody, named),
        response: reply(Type.Null()),
        detail: { summary: 'Sets the version of an environment, in place of the one that it had' },
      },
    )
    .post(
      '/v1/prompt-2025/remove/environment',
      ({ key, body }) => environments.remove(key.organizationId, body),
      {
        body: jsonBody(VersionEnvironmentBody, named),
        response: reply(Type.Null()),
        detail: { summary: 'Removes an environment, which must be that of the version' },
      },
    )
    .delete(
      '/v1/prompt-2025/:id/:versionId',
      // Elysia awaits a handler when the text of the function looks asynchronous: a line break after the arrow does not.
      async ({ key, params }) =>
        versions.remove(key.organizationId, { promptId: params.id, promptVersionId: params.versionId }),
      {
        params: version,
        response: reply(Type.Null()),
        detail: { summary: 'Deletes a version that no environment names; its number is not used again' },
      },
    );
}

/** `/v1/prompt-2025…` and the second form of three of its queries: stored prompts. */
export function promptRoutes(options: PromptRoutesOptions) {
  return new Elysia({ name: 'api/prompts' })
    .use(promptsThemselves(options))
    .use(versionQueries(options, '/v1/prompt-2025', linkedReply, LinkedPromptVersionJson))
    .use(versionQueries(options, '/v2/prompt-2025', wholeReply, WholePromptVersionJson))
    .use(versionLists(options))
    .use(versionChanges(options));
}
