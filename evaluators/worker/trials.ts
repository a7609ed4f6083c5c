/** Does at once what the API asks for: compiles code, tries evaluators out. See api/evaluators/trials.ts. */
import type { Clock } from '#core/clock.ts';
import { describeError } from '#core/errors.ts';
import { storableJson } from '#core/json/mod.ts';
import type { Logger } from '#core/log.ts';
import { isStoreUnavailable, listen, type Sql } from '#core/postgres/mod.ts';
import {
  type TestResult,
  type TestTrial,
  TRIAL_EVALUATOR_ID,
  type TrialBody,
  type TrialResult,
} from '#core/scoring/mod.ts';
import type { SecretBox } from '#core/secrets/mod.ts';
import type { Sandbox } from '../python/mod.ts';
import { readDefinition } from './evaluate.ts';
import type { Scorer } from './scorer.ts';

export type TrialsOptions = {
  sql: Sql;
  log: Logger;
  clock: Clock;
  scorer: Scorer;
  sandbox: Sandbox;
  secrets: SecretBox;
};

const REQUESTS_CHANNEL = 'assay_trials';
const RESULTS_CHANNEL = 'assay_trial_results';
/** At a time, in this process. */
const MAX_TRIALS = 8;
const LOOK_EVERY_MS = 1_000;
/** Nobody waits so long. */
const FORGOTTEN_AFTER = '10 minutes';

type Taken = { trialId: string; organizationId: string; body: TrialBody };

/** Serves trials until it is stopped; those under way are finished. */
export function serveTrials(options: TrialsOptions): { stop(): Promise<void> } {
  const { sql, log } = options;
  const running = new Set<Promise<void>>();
  let taking: Promise<void> | null = null;
  let isStopped = false;

  const look = () => {
    if (isStopped || taking !== null || running.size >= MAX_TRIALS) return;
    taking = takeAll().finally(() => {
      taking = null;
    });
  };

  async function takeAll(): Promise<void> {
    try {
      for (;;) {
        const taken = await take(sql, MAX_TRIALS - running.size);
        for (const trial of taken) {
          const run = answer(trial).finally(() => {
            running.delete(run);
            look();
          });
          running.add(run);
        }
        if (taken.length === 0 || running.size >= MAX_TRIALS) return;
      }
    } catch (error) {
      if (!isStoreUnavailable(error)) log.error({ error: describeError(error) }, 'cannot take trials');
    }
  }

  async function answer({ trialId, organizationId, body }: Taken): Promise<void> {
    try {
      const result = await run(organizationId, trialId, body, options);
      await sql.begin(async (tx) => {
        await tx`
          update assay.evaluator_trials set result = ${storableJson(result).text}::text::jsonb where trial_id = ${trialId}`;
        await tx`select pg_notify(${RESULTS_CHANNEL}, ${trialId})`;
      });
    } catch (error) {
      // Whoever waits for it gives up in time.
      log.error({ error: describeError(error) }, 'a trial failed');
    }
  }

  const listening = listen({
    sql,
    channel: REQUESTS_CHANNEL,
    onNotify: look,
    onListening: look,
    onLost: () => {},
  });
  const looking = setInterval(look, LOOK_EVERY_MS);
  return {
    stop: async () => {
      isStopped = true;
      clearInterval(looking);
      await listening.stop();
      await taking;
      await Promise.all(running);
    },
  };
}

async function take(sql: Sql, limit: number): Promise<Taken[]> {
  await sql`delete from assay.evaluator_trials where created_at < now() - ${FORGOTTEN_AFTER}::interval`;
  return await sql<Taken[]>`
    update assay.evaluator_trials set taken_at = now()
     where trial_id = any(array(
       select trial_id from assay.evaluator_trials where taken_at is null
        order by created_at limit ${limit} for update skip locked))
    returning trial_id as "trialId", organization_id as "organizationId", body`;
}

async function run(
  organizationId: string,
  trialId: string,
  body: TrialBody,
  { sandbox, scorer, secrets, clock }: TrialsOptions,
): Promise<TrialResult> {
  if (body.kind === 'compile') {
    if (sandbox.tier === 'none') return withoutSandbox(sandbox);
    const compiled = await sandbox.compile(body.code);
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
  const call = {
    ...body.testInput,
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
  });
  const { outcome, use, warnings = [], prompt, raw, parse } = scored!;
  const result: TestResult = {
    kind: 'test',
    outcome,
    use,
    warnings,
    traces: outcome.state === 'skipped' ? null : outcome.traces,
    durationMs: Math.round(clock.monotonic() - beganAt),
    prompt: prompt ?? null,
    raw: raw ?? null,
    parse: parse ?? null,
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
  return 'definition' in read ? read.definition : null;
}
