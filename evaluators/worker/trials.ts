/** Trials: compiles code and tries out evaluators for the API, which waits for the result (api/evaluators/trials.ts). */

import { TRIAL_RESULTS_CHANNEL, TRIALS_CHANNEL } from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import {
  type TestTrial,
  type TestTrialResult,
  TRIAL_EVALUATOR_ID,
  type TrialBody,
  type TrialResult,
} from '#core/contracts/trial.ts';
import { storableJson } from '#core/json/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { isStoreUnavailable, type Listener, onAnnounced, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { startPolling } from '#platform/process/polling.ts';
import type { SecretBox } from '#platform/secrets/mod.ts';
import type { Sandbox } from '../python/mod.ts';
import { loadSessions } from '../queue/mod.ts';
import { readDefinition } from './definition.ts';
import { MOST_TRIALS, type Scorer } from './scorer.ts';

export type TrialsOptions = {
  sql: Sql;
  listener: Listener;
  log: Logger;
  clock: Clock;
  scorer: Scorer;
  sandbox: Sandbox;
  secrets: SecretBox;
};

/** Concurrent trials in this process. Further ones are only for organizations without one under way: one that fills it delays no other. */
const MAX_TRIALS = 8;
/** Age at which a trial is deleted: the API never waits so long. */
const DELETED_AFTER = '10 minutes';

type ClaimedTrial = {
  trialId: string;
  organizationId: string;
  body: TrialBody;
  /** The prompt variables of `body` as JSON: the digits that a double does not hold are lost in it. */
  inputs: string | null;
};

/** Serves trials until it is stopped. The stop waits for those under way. */
export function serveTrials(options: TrialsOptions): { stop(): Promise<void> } {
  const { sql, listener, log } = options;
  const running = new Set<Promise<void>>();
  /** Number of trials under way, by organization. */
  const underWay = new Map<string, number>();

  const polling = startPolling({
    work: async () => {
      // The end of one under way wakes it.
      if (running.size >= MOST_TRIALS) return announced.longestSleepMs();
      const claimed = await claimTrials(sql, underWay);
      for (const trial of claimed) begin(trial);
      return claimed.length > 0 ? 0 : announced.longestSleepMs();
    },
    onError: (error) => {
      if (!isStoreUnavailable(error)) log.error({ error: describeError(error) }, 'cannot claim trials');
    },
  });

  function begin(trial: ClaimedTrial): void {
    const { organizationId } = trial;
    underWay.set(organizationId, (underWay.get(organizationId) ?? 0) + 1);
    const run = serve(trial).finally(() => {
      running.delete(run);
      const left = underWay.get(organizationId)! - 1;
      if (left === 0) underWay.delete(organizationId);
      else underWay.set(organizationId, left);
      polling.wake();
    });
    running.add(run);
  }

  async function serve(trial: ClaimedTrial): Promise<void> {
    try {
      const result = await runTrial(trial, options);
      await sql.begin(async (tx) => {
        await tx`
          update assay.evaluator_trials set result = ${storableJson(result).text}::text::jsonb where trial_id = ${trial.trialId}`;
        await tx`select pg_notify(${TRIAL_RESULTS_CHANNEL}, ${trial.trialId})`;
      });
    } catch (error) {
      // The API, which waits for the result, times out.
      log.error({ error: describeError(error) }, 'a trial failed');
    }
  }

  const announced = onAnnounced(listener, TRIALS_CHANNEL, polling.wake);
  return {
    stop: async () => {
      await Promise.all([polling.stop(), announced.stop()]);
      await Promise.all(running);
    },
  };
}

/**
 * Claims open trials, first those of the organizations with the fewest under way in this process. Once `MAX_TRIALS` are
 * under way, only the first trial of an organization is claimed.
 */
async function claimTrials(sql: Sql, underWay: ReadonlyMap<string, number>): Promise<ClaimedTrial[]> {
  await sql`delete from assay.evaluator_trials where created_at < now() - ${DELETED_AFTER}::interval`;
  const total = [...underWay.values()].reduce((sum, count) => sum + count, 0);
  const isFull = total >= MAX_TRIALS;
  const limit = isFull ? MOST_TRIALS - total : MAX_TRIALS - total;
  return await sql<ClaimedTrial[]>`
    with placed as materialized (
      select trial_id, coalesce(own.count, 0) + row_number() over (partition by organization_id order by created_at) as place
        from assay.evaluator_trials
        left join unnest(${[...underWay.keys()]}::uuid[], ${[...underWay.values()]}::int4[])
          as own (organization_id, count) using (organization_id)
       where taken_at is null
    )
    update assay.evaluator_trials set taken_at = now()
     where trial_id = any(array(
       select trial_id from placed join assay.evaluator_trials t using (trial_id)
        where t.taken_at is null and (place = 1 or not ${isFull}::bool)
        order by place, t.created_at limit ${limit} for update of t skip locked))
    returning trial_id as "trialId", organization_id as "organizationId", body, (body #> '{testInput,inputs}')::text as inputs`;
}

async function runTrial(
  { trialId, organizationId, body, inputs }: ClaimedTrial,
  { sql, sandbox, scorer, secrets, clock }: TrialsOptions,
): Promise<TrialResult> {
  if (body.kind === 'compile') {
    if (sandbox.tier === 'none') return withoutSandbox(sandbox);
    const compiled = await sandbox.compile(body.code, { organizationId, share: 'trials' });
    if (!compiled.ok && compiled.code === 'sandbox_unavailable') return withoutSandbox(sandbox);
    return { kind: 'compile', ...compiled };
  }
  if (body.scoringType === 'PYTHON' && sandbox.tier === 'none') return withoutSandbox(sandbox);
  const definition = definitionOf(body, organizationId, secrets);
  if (definition === null) {
    return {
      kind: 'unavailable',
      message: 'The secrets cannot be read: SECRET_KEY differs between the services',
    };
  }
  const beganAt = clock.monotonic();
  const { sessionId, ...input } = body.testInput;
  const [session] =
    sessionId === undefined
      ? []
      : await loadSessions(sql, [{ organizationId, sessionId, createdAt: null, requestId: null }]);
  const call = {
    ...input,
    inputs,
    ...(session !== undefined && { session }),
    requestId: trialId,
    status: 200,
    truncated: false,
    errorCode: null,
    properties: null,
    model: null,
  };
  const [scored] = await scorer.score({
    organizationId,
    evaluator: { id: TRIAL_EVALUATOR_ID, version: 0, name: body.evaluatorName },
    definition,
    items: [{ evaluationId: `trial-${trialId}`, call, probe: null }],
    isTrial: true,
  });
  const { outcome, use, warnings = [], members, prompt, raw, parse } = scored!;
  const result: TestTrialResult = {
    kind: 'test',
    outcome,
    use,
    warnings,
    traces: outcome.state === 'skipped' ? null : outcome.traces,
    durationMs: Math.round(clock.monotonic() - beganAt),
    prompt: prompt ?? null,
    raw: raw ?? null,
    parse: parse ?? null,
    members: members ?? null,
  };
  return result;
}

function withoutSandbox({ why }: Sandbox): TrialResult {
  return {
    kind: 'unavailable',
    message: `Python cannot be run safely here: ${why ?? 'the sandbox is not available'}`,
  };
}

function definitionOf(body: TestTrial, organizationId: string, secrets: SecretBox) {
  const stored = {
    scoringType: body.scoringType,
    llmTemplate: 'llmTemplate' in body ? body.llmTemplate : null,
    codeTemplate: 'codeTemplate' in body ? body.codeTemplate : null,
    externalConfig: 'externalConfig' in body ? body.externalConfig : null,
    secrets:
      'sealedSecrets' in body && body.sealedSecrets !== null
        ? Buffer.from(body.sealedSecrets, 'base64')
        : null,
  };
  const read = readDefinition(stored, secrets, { organizationId, evaluatorId: TRIAL_EVALUATOR_ID });
  return read.kind === 'read' ? read.definition : null;
}
