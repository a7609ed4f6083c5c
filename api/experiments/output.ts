/**
 * Takes the answers of experiments whose target is external. Each run keeps its first answer: the run names its request before
 * that is logged, so whoever sends the answer again, after a failure or at the same time, logs the same request, which the log
 * keeps once.
 */
import { AssayError } from '#core/contracts/errors.ts';
import type { ExperimentRunJson } from '#core/contracts/experiment.ts';
import type { OutputBody } from '#core/contracts/experiment-output.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { holdErasures, inOrganization } from '#platform/postgres/mod.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { readUuid } from '../ids.ts';
import type { LogRequest, Sender } from '../log/mod.ts';
import { awaitRequest, findKey } from '../requests/mod.ts';
import { adoptRecord } from './adopt-record.ts';
import type { Context } from './context.ts';
import { runJson } from './experiment-json.ts';
import {
  isAnswered,
  lockRun,
  type Outcome,
  type OutputRun,
  refuseStopped,
  writeOutcome,
} from './external-run.ts';
import { gradersOf } from './graders.ts';
import { outputCall } from './output-call.ts';
import { scheduleGrades } from './runs.ts';

/** @throws AssayError not_found, invalid_body, conflict, and those of `POST /v1/log/request` */
export type PostOutput = (
  sender: Sender,
  experimentId: string,
  body: OutputBody,
) => Promise<ExperimentRunJson>;

/** Time for which a run counts as running while its answer is being logged. */
const LOGGED_WITHIN = '1 minute';
/** Time in which the record of a call is stored, also while ingest has much to do: a job can wait for it. */
const STORED_WITHIN_MS = 8_000;

export function createPostOutput(
  { sql, clock, prices }: Context,
  { logRequest }: { logRequest: LogRequest },
): PostOutput {
  /** Notes the request that the answer is logged as. */
  async function begin(organizationId: string, experimentId: string, body: OutputBody): Promise<OutputRun> {
    return await inOrganization(sql, organizationId, async (tx) => {
      const run = await lockRun(tx, organizationId, experimentId, body);
      refuseStopped(run);
      if (isAnswered(run)) return run;
      const callId = run.call_id ?? newRequestId(clock.now());
      await tx`
        update assay.experiment_runs
           set state = 'running', call_id = ${callId}, claims = claims + 1, attempts = attempts + 1,
               due_at = now() + ${LOGGED_WITHIN}::interval
         where experiment_id = ${experimentId} and item_id = ${run.item_id} and repetition = ${run.repetition}`;
      await tx`
        insert into assay.experiment_calls
          (organization_id, request_id, experiment_id, item_id, cost_nano, is_recorded, begun_at)
        values (${organizationId}, ${callId}, ${experimentId}, ${run.item_id}, 0, false, now()) on conflict do nothing`;
      return { ...run, state: 'running', call_id: callId };
    });
  }

  async function postResponse(sender: Sender, experimentId: string, body: OutputBody) {
    const { organizationId } = sender;
    const run = await begin(organizationId, experimentId, body);
    if (isAnswered(run)) return runJson(run);
    try {
      await logRequest(sender, outputCall(run, body, { prices, nowMs: clock.now() }), {
        source: 'experiment',
      });
    } catch (error) {
      // Somebody sent the answer before, and it was logged.
      if (!(error instanceof AssayError && error.code === 'request_id_in_use')) throw error;
    }
    return await complete(organizationId, run);
  }

  async function postRequestId(
    { organizationId }: Sender,
    experimentId: string,
    body: OutputBody,
    requestId: string,
  ) {
    const attempt = () => inOrganization(sql, organizationId, (tx) => findKey(tx, organizationId, requestId));
    await awaitRequest(requestId, { sql, clock, organizationId }, attempt, STORED_WITHIN_MS);
    return await inOrganization(sql, organizationId, async (tx) => {
      // Until it is committed no erasure begins, which could miss its evaluations.
      await holdErasures(tx, organizationId);
      const run = await lockRun(tx, organizationId, experimentId, body);
      refuseStopped(run);
      if (isAnswered(run)) return runJson(run);
      const outcome = await adoptRecord(tx, organizationId, run, requestId);
      const written = await writeOutcome(tx, run, outcome);
      const graders = await gradersOf(tx, experimentId);
      const at = new Date(clock.now());
      await scheduleGrades(tx, { experimentId, organizationId, graders, at }, requestId);
      return runJson(written);
    });
  }

  /** Writes the outcome of a run whose answer is logged, also when its experiment was stopped meanwhile. */
  async function complete(
    organizationId: string,
    { experiment_id, item_id, repetition, call_id }: OutputRun,
  ) {
    return await inOrganization(sql, organizationId, async (tx) => {
      const run = await lockRun(tx, organizationId, experiment_id, { itemId: item_id, repetition });
      if (isAnswered(run)) return runJson(run);
      return runJson(await writeOutcome(tx, run, { state: 'completed', requestId: call_id }));
    });
  }

  async function postError({ organizationId }: Sender, experimentId: string, body: OutputBody, why: string) {
    return await inOrganization(sql, organizationId, async (tx) => {
      const run = await lockRun(tx, organizationId, experimentId, body);
      refuseStopped(run);
      if (isAnswered(run)) return runJson(run);
      const outcome: Outcome = { state: 'error', errorCode: 'job_failed', errorMessage: storableText(why) };
      return runJson(await writeOutcome(tx, run, outcome));
    });
  }

  return async (sender, id, body) => {
    const experimentId = readUuid('experiment', id);
    refuseUnclear(body);
    if (body.response !== undefined) return await postResponse(sender, experimentId, body);
    if (body.requestId !== undefined)
      return await postRequestId(sender, experimentId, body, storableText(body.requestId));
    return await postError(sender, experimentId, body, body.error!);
  };
}

/** @throws AssayError invalid_body unless a body names one item and one answer */
function refuseUnclear(body: OutputBody): void {
  const { itemId, externalId, response, model, latencyMs } = body;
  if ((itemId === undefined) === (externalId === undefined))
    throw invalidField('itemId', 'or externalId is required, and not both');
  const answers = (['response', 'requestId', 'error'] as const).filter((name) => body[name] !== undefined);
  if (answers.length !== 1)
    throw invalidField('response', 'or requestId or error is required, and one alone');
  if (response !== undefined) return;
  if (model !== undefined) throw invalidField('model', 'belongs to a response');
  if (latencyMs !== undefined) throw invalidField('latencyMs', 'belongs to a response');
}
