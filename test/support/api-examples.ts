/** One thing of each kind that paths of the management API name, so that every documented route can be called. */
import { encodeEntry } from '#core/contracts/dead-letter-codec.ts';
import type { Judgment, JudgmentsBody } from '#core/contracts/judgment.ts';
import type { DocumentedRoute } from '#core/contracts/openapi.ts';
import { createSession } from '#platform/browser-sessions/mod.ts';
import { hashApiKey } from '#platform/keys/mod.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { newDeliveryId } from '#platform/webhooks/mod.ts';
import { insertEvaluations } from '../integration/api/evaluators/seed-evaluations.ts';
import { apiRoutes } from './api-contract.ts';
import type { EvaluatorApi } from './evaluators-process.ts';
import { BOOLEAN, PYTHON } from './evaluators-process.ts';
import { logEntry } from './log-entries.ts';
import { insertRequests } from './seed-requests.ts';

/** Something that a call names by ids of its body, where the examples of the document have others. */
type NamedPrompt = { promptId: string; promptVersionId: string };

export type ApiExamples = {
  /** Returns a route's path with the ids of things that are there. */
  pathOf(method: string, path: string): string;
  /** Returns the example of a route's body with the ids of things that are there; undefined: it has no body. */
  exampleOf(route: DocumentedRoute): unknown;
  /** Texts by which another organization would recognize these things. */
  marks: string[];
};

const SESSION_ID = 'the session of the examples';

/** Returns the example of a route's body. */
function exampleAt(method: string, path: string): object {
  const route = apiRoutes.find((one) => one.method === method && one.path === path);
  return route!.hooks.body!.example as object;
}

/** Two prompts: the examples name the first one; the second has a version that can be deleted, and a request of it. */
async function seedPrompts(api: EvaluatorApi) {
  const make = (name: string) =>
    api.make<{ id: string; versionId: string }>('/v1/prompt-2025', { name, promptBody: {} });
  const [prompt, other] = [await make('Seeded'), await make('Seeded, too')];
  const { id: deletedVersionId } = await api.make('/v1/prompt-2025/update', {
    promptId: other.id,
    promptVersionId: other.versionId,
    promptBody: {},
  });
  const [request] = await insertRequests(api.database.sql, api.own.organizationId, [
    { prompt_id: other.id, prompt_version: other.versionId, inputs: { name: 'Ada' } },
  ]);
  return { prompt, otherPrompt: { ...other, deletedVersionId, requestId: request!.request_id } };
}

/** A webhook with a failed delivery. */
async function seedWebhook(api: EvaluatorApi): Promise<{ id: string; deliveryId: string }> {
  const { id } = await api.make<{ id: string }>('/v1/webhook', {
    url: 'https://example.com/seeded',
    events: ['request.logged'],
  });
  const deliveryId = newDeliveryId(Date.now());
  await api.database.sql`
    insert into assay.webhook_deliveries
      (webhook_id, delivery_id, organization_id, event, event_at, state, due_at, finished_at)
    values (${id}, ${deliveryId}, ${api.own.organizationId}, 'request.logged', now(), 'failed', now(), now())`;
  return { id, deliveryId };
}

/** A dataset with an item, and another that can be archived. */
async function seedDatasets(api: EvaluatorApi) {
  const make = (name: string) => api.make<{ id: string }>('/v1/dataset', { name });
  const [{ id }, { id: archivedId }] = [await make('Seeded'), await make('To archive')];
  const request = { messages: [{ role: 'user', content: 'of the examples' }] };
  const items = [{ externalId: 'refund-17', request }];
  await api.make(`/v1/dataset/${id}/items`, { items });
  const page = await api.make<{ items: { id: string }[] }>(`/v1/dataset/${id}/items/query`, {});
  return { id, archivedId, itemId: page.items[0]!.id };
}

/** Experiments: one runs, one is paused, one can be cancelled, one takes answers, and one with a baseline has ended. */
async function seedExperiments(api: EvaluatorApi, datasetId: string) {
  const one = (name: string, body: object) =>
    api.make<{ id: string; baseline_id: string }>('/v1/experiment', { name, datasetId, ...body });
  const { id: externalId } = await one('External', { target: { kind: 'external' } });
  const ended = await one('Ended', { target: { kind: 'recorded' }, baseline: 'recorded' });
  const make = (name: string) =>
    api.make<{ id: string }>('/v1/experiment', { name, datasetId, target: { kind: 'replay' } });
  const [{ id }, { id: pausedId }, { id: cancelledId }] = [
    await make('Seeded'),
    await make('Paused'),
    await make('To cancel'),
  ];
  await api.make(`/v1/experiment/${pausedId}/pause`, undefined, 'POST');
  return { id, pausedId, cancelledId, externalId, ended };
}

/** A dead letter whose entry can be stored. */
async function seedDeadLetter({ own, database: { sql } }: EvaluatorApi): Promise<string> {
  const { organizationId } = own;
  const entry = encodeEntry(logEntry({ organizationId }));
  const [row] = await sql<{ id: string }[]>`
    insert into assay.dead_letters (origin, organization_id, reason, entry)
    values ('outbox/1/2', ${organizationId}, 'seeded', ${entry}) returning dead_letter_id::text as id`;
  return row!.id;
}

/** A log-in of a browser with the organization's own key. */
async function seedLogin({ own, database: { sql } }: EvaluatorApi): Promise<string> {
  const { organizationId } = own;
  const [row] = await sql<{ keyId: string }[]>`
    select key_id as "keyId" from assay.api_keys where hash = ${hashApiKey(own.key)}`;
  const wanted = { organizationId, keyId: row!.keyId, userAgent: 'Seeded', nowMs: Date.now() };
  const { session } = await sql.begin((tx) => createSession(tx, wanted));
  return session.sessionId;
}

/** Makes them, in the own organization. */
export async function seedExamples(api: EvaluatorApi): Promise<ApiExamples> {
  const [request, graded] = await insertRequests(api.database.sql, api.own.organizationId, [
    { request_id: newRequestId(), session_id: SESSION_ID, session_path: '/' },
    {},
  ]);
  const { request_id, created_at } = request!;
  const { id: evaluatorId } = await api.make('/v1/evaluator', { name: 'Seeded', ...PYTHON });
  const { id: deletedId } = await api.make('/v1/evaluator', { name: 'To delete', ...BOOLEAN });
  const { id: onlineId } = await api.make(`/v1/evaluator/${evaluatorId}/onlineEvaluators`, {
    config: { sampleRate: 1, filter: 'all' },
  });
  const { id: runId } = await api.make(`/v1/evaluator/${evaluatorId}/run`, { filter: 'all' });
  const { id: pairwiseId } = await api.make('/v1/evaluator', {
    name: 'Seeded pairs',
    scoring_type: 'LLM-PAIRWISE',
    llm_template: { model: 'gpt-4o', prompt: 'Which is better?' },
  });
  await api.make('/v1/provider-keys/openai', { key: 'sk-of-the-owner' }, 'PUT');
  const of = { evaluator_id: evaluatorId, request_id, created_at };
  await insertEvaluations(api, [
    { ...of, state: 'error', error_code: 'judge_timeout' },
    { ...of, state: 'pending', probe: 'repeat' },
  ]);
  const evaluations = await api.make<{ id: string; state: string }[]>('/v1/evaluation/query', {});
  const evaluationIn = (state: string) => evaluations.find((one) => one.state === state)!.id;
  const [deletion] = await api.database.sql<{ job_id: string }[]>`
    insert into assay.erasure_jobs (organization_id, state, until, created_at, updated_at, finished_at)
    values (${api.own.organizationId}, 'cancelled', now(), now(), now(), now()) returning job_id`;
  const { id: keyId } = await api.make('/v1/keys', { name: 'Seeded', scopes: ['read'] });
  const { id: alertId } = await api.make('/v1/alert', exampleAt('POST', '/v1/alert'));
  const view = { name: 'Seeded', page: 'requests', query: 'q=status:500' };
  const { id: viewId } = await api.make('/v1/view', view);
  const { id: criterionId } = await api.make('/v1/criterion', { name: 'Seeded', kind: { type: 'boolean' } });
  const { id: archivedId } = await api.make('/v1/criterion', {
    name: 'To archive',
    kind: { type: 'boolean' },
  });
  const source = { requestIds: [request_id] };
  const queueOf = (name: string) =>
    api.make<{ id: string }>('/v1/review-queue', { name, criterionIds: [criterionId], source, perItem: 1 });
  const [{ id: queueId }, { id: archivedQueueId }] = [await queueOf('Seeded'), await queueOf('To archive')];
  const webhook = await seedWebhook(api);
  const sessionId = await seedLogin(api);
  const letters = { kept: await seedDeadLetter(api), stored: await seedDeadLetter(api) };
  const { prompt, otherPrompt } = await seedPrompts(api);
  const [pending, failed] = [evaluationIn('pending'), evaluationIn('error')];

  const dataset = await seedDatasets(api);
  const experiments = await seedExperiments(api, dataset.id);
  const [pairRun] = await api.database.sql<{ run_id: string }[]>`
    insert into assay.evaluation_runs (organization_id, evaluator_id, version, state, filter, until, baseline_experiment_id,
      candidate_experiment_id, created_at, updated_at)
    values (${api.own.organizationId}, ${pairwiseId}, 1, 'scheduled', '"all"', now(), ${experiments.id}, ${experiments.pausedId},
      now(), now()) returning run_id`;
  function pathOf(method: string, path: string): string {
    if (path.startsWith('/v1/evaluator/:id/pairwise'))
      return path.replace(':id', pairwiseId).replace(':runId', pairRun!.run_id);
    if (method === 'DELETE' && path === '/v1/request/:id/grade')
      return `/v1/request/${graded!.request_id}/grade?criterionId=${criterionId}`;
    if (method === 'DELETE' && path === '/v1/criterion/:id') return path.replace(':id', archivedId);
    if (method === 'DELETE' && path === '/v1/review-queue/:id') return path.replace(':id', archivedQueueId);
    if (path.startsWith('/v1/review-queue/')) return path.replace(':id', queueId);
    if (path.startsWith('/v1/criterion/')) return path.replace(':id', criterionId);
    if (path.startsWith('/v1/request/:id')) return path.replace(':id', request_id).replace(':key', 'a key');
    if (path.startsWith('/v1/request/delete/:id')) return path.replace(':id', deletion!.job_id);
    if (path === '/v1/evaluation/:id/cancel') return path.replace(':id', pending);
    if (path.startsWith('/v1/evaluation/:id')) return path.replace(':id', failed);
    if (method === 'DELETE' && path === '/v1/evaluator/:id') return path.replace(':id', deletedId);
    if (path.endsWith('/:versionId/inputs'))
      return `/v1/prompt-2025/id/${otherPrompt.id}/${otherPrompt.versionId}/inputs?requestId=${otherPrompt.requestId}`;
    if (path === '/v1/prompt-2025/:id/:versionId')
      return `/v1/prompt-2025/${otherPrompt.id}/${otherPrompt.deletedVersionId}`;
    if (path.startsWith('/v1/prompt-2025')) return path.replace(':id', prompt.id);
    if (path.startsWith('/v1/session/')) return path.replace(':id', encodeURIComponent(SESSION_ID));
    if (method === 'DELETE' && path === '/v1/dataset/:id') return path.replace(':id', dataset.archivedId);
    if (path === '/v1/experiment/:id/output') return path.replace(':id', experiments.externalId);
    if (path === '/v1/experiment/:id/gate') return path.replace(':id', experiments.ended.id);
    if (path === '/v1/experiment/:id/resume') return path.replace(':id', experiments.pausedId);
    if (path === '/v1/experiment/:id/cancel') return path.replace(':id', experiments.cancelledId);
    if (path.startsWith('/v1/experiment/')) return path.replace(':id', experiments.id);
    // In the first version, whatever becomes of it.
    if (path === '/v1/dataset/:id/items/:itemId')
      return `/v1/dataset/${dataset.id}/items/${dataset.itemId}?version=1`;
    if (path.startsWith('/v1/dataset/'))
      return path.replace(':id', dataset.id).replace(':itemId', dataset.itemId);
    if (path.startsWith('/v1/alert/')) return path.replace(':id', alertId);
    if (path.startsWith('/v1/view/')) return path.replace(':id', viewId);
    if (path.startsWith('/v1/webhook/'))
      return path.replace(':id', webhook.id).replace(':deliveryId', webhook.deliveryId);
    if (path === '/v1/dead-letter/:id/retry') return path.replace(':id', letters.stored);
    if (path.startsWith('/v1/dead-letter/')) return path.replace(':id', letters.kept);
    if (path.startsWith('/v1/login/')) return path.replace(':id', sessionId);
    if (path.startsWith('/v1/keys/')) return path.replace(':id', keyId);
    return path
      .replace('/onlineEvaluators/:onlineId', `/onlineEvaluators/${onlineId}`)
      .replace('/run/:runId', `/run/${runId}`)
      .replace(':id', evaluatorId)
      .replace(':provider', 'openai');
  }
  const named = exampleAt('POST', '/v1/prompt-2025/remove/environment') as NamedPrompt;
  const grade = exampleAt('PUT', '/v1/request/:id/grade') as { criterionId: string };
  const judgments = exampleAt('POST', '/v1/evaluator/:id/evaluations') as JudgmentsBody;
  const judged = (judgments.evaluations[0] as Judgment).requestId;
  const skip = exampleAt('POST', '/v1/review-queue/:id/skip') as { requestId: string };
  const comparison = exampleAt('POST', '/v1/experiment/compare') as {
    baseline: string;
    candidates: [string];
  };
  const gate = exampleAt('POST', '/v1/experiment/:id/gate') as { baseline: string };
  const experiment = exampleAt('POST', '/v1/experiment') as { datasetId: string; evaluatorIds: [string] };
  function exampleOf({ hooks }: DocumentedRoute): unknown {
    const text = JSON.stringify(hooks.body?.example)
      ?.replaceAll(named.promptId, prompt.id)
      .replaceAll(named.promptVersionId, prompt.versionId)
      .replaceAll(grade.criterionId, criterionId)
      .replaceAll(skip.requestId, request_id)
      .replaceAll(judged, graded!.request_id)
      .replaceAll(comparison.baseline, experiments.id)
      .replaceAll(comparison.candidates[0], experiments.pausedId)
      .replaceAll(gate.baseline, experiments.ended.baseline_id)
      .replaceAll(experiment.datasetId, dataset.id)
      .replaceAll(experiment.evaluatorIds[0], evaluatorId);
    return text === undefined ? undefined : JSON.parse(text);
  }
  const prompts = [prompt.id, prompt.versionId, otherPrompt.id, otherPrompt.versionId];
  const marks = [
    request_id,
    evaluatorId,
    deletedId,
    onlineId,
    runId,
    pairwiseId,
    pairRun!.run_id,
    keyId,
    SESSION_ID,
    deletion!.job_id,
    alertId,
    viewId,
    criterionId,
    archivedId,
    queueId,
    archivedQueueId,
    webhook.id,
    webhook.deliveryId,
    sessionId,
    dataset.id,
    dataset.archivedId,
    dataset.itemId,
    experiments.id,
    experiments.pausedId,
    experiments.cancelledId,
    experiments.externalId,
    experiments.ended.id,
    experiments.ended.baseline_id,
    ...prompts,
  ];
  return { pathOf, exampleOf, marks };
}
