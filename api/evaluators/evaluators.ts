/** Creates, finds, changes, deletes and resumes evaluators. */
import { randomUUID } from 'node:crypto';
import { AssayError } from '#core/contracts/errors.ts';
import { templateFieldOf } from '#core/contracts/evaluator.ts';
import { foldName } from '#core/contracts/storable-text.ts';
import { isImported } from '#core/evaluations/mod.ts';
import type { ScoringType } from '#core/scoring/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { announceRuns } from './announce-work.ts';
import type { EvaluatorChangeBody, EvaluatorQueryBody, NewEvaluatorBody } from './bodies.ts';
import { changeEvaluator } from './change-evaluator.ts';
import type { Context } from './context.ts';
import { type Definition, define, ownTemplate } from './define.ts';
import { type EvaluatorJson, type EvaluatorRow, evaluatorJson, type Templates } from './evaluator-json.ts';
import { budgetOf } from './read-change.ts';
import { readName } from './read-name.ts';
import { checkThresholdOf, refuseTakenName, requireEvaluator } from './rules.ts';
import { setStates } from './set-states.ts';
import {
  addVersion,
  countEvaluators,
  deleteEvaluator,
  insertEvaluator,
  listEvaluators,
  lockEvaluators,
  unpauseEvaluator,
} from './store.ts';
import { readWaitReason } from './waiting.ts';

export type Evaluators = {
  create(organizationId: string, body: NewEvaluatorBody): Promise<EvaluatorJson>;
  get(organizationId: string, id: string): Promise<EvaluatorJson>;
  query(organizationId: string, body: EvaluatorQueryBody): Promise<EvaluatorJson[]>;
  change(organizationId: string, id: string, body: EvaluatorChangeBody): Promise<EvaluatorJson>;
  remove(organizationId: string, id: string): Promise<null>;
  resume(organizationId: string, id: string): Promise<EvaluatorJson>;
};

/** Limit of one organization's evaluators. Ingest checks each online one for every logged request. */
const MAX_EVALUATORS = 200;

async function shown(tx: TransactionSql, row: EvaluatorRow): Promise<EvaluatorJson> {
  return evaluatorJson(row, await readWaitReason(tx));
}

/** @throws AssayError invalid_body for an evaluator that no session can be scored by */
function refuseSessions(scoringType: ScoringType, { external_config }: Templates): void {
  const foreign = (what: string) =>
    new AssayError('invalid_body', `scope must be request for ${what}: it scores no sessions`);
  if (scoringType === 'LLM-PAIRWISE') throw foreign('the scoring_type LLM-PAIRWISE');
  if (isImported(external_config?.adapter)) throw foreign('the adapter "imported"');
}

export function createEvaluators(context: Context): Evaluators {
  const { sql, clock } = context;

  return {
    async create(organizationId, body) {
      const named = readName(body.name);
      const { scoring_type: scoringType, scope = 'request' } = body;
      const template = ownTemplate(scoringType, body);
      const dailyBudgetNano = budgetOf(scoringType, body.daily_budget_usd);
      if (template === undefined) {
        throw new AssayError(
          'invalid_body',
          `${templateFieldOf(scoringType)} is required for the scoring_type ${scoringType}`,
        );
      }
      const evaluatorId = randomUUID();
      const owner = { organizationId, evaluatorId };
      const definition = (await define(context, {
        ...owner,
        scoringType,
        scope,
        value: template,
        previous: null,
      })) as Definition;
      if (scope === 'session') refuseSessions(scoringType, definition);
      const threshold = body.threshold ?? null;
      checkThresholdOf(scoringType, definition, threshold, false);
      return inOrganization(sql, organizationId, async (tx) => {
        await lockEvaluators(tx, organizationId);
        await refuseTakenName(tx, organizationId, named, null);
        if ((await countEvaluators(tx, organizationId)) >= MAX_EVALUATORS) {
          throw new AssayError('conflict', `An organization can have at most ${MAX_EVALUATORS} evaluators`);
        }
        const at = new Date(clock.now());
        await insertEvaluator(tx, { ...owner, ...named, scoringType, scope, dailyBudgetNano, at });
        await addVersion(tx, { ...owner, version: 1, definition, threshold, at });
        return shown(tx, await requireEvaluator(tx, organizationId, evaluatorId));
      });
    },

    async get(organizationId, evaluatorId) {
      return inOrganization(sql, organizationId, async (tx) =>
        shown(tx, await requireEvaluator(tx, organizationId, evaluatorId)),
      );
    },

    async query(organizationId, { name, scoring_type, scope, isPaused }) {
      const { rows, waitReason } = await inOrganization(sql, organizationId, async (tx) => ({
        rows: await listEvaluators(tx, organizationId),
        waitReason: await readWaitReason(tx),
      }));
      // Evaluators are few, and only one function folds names.
      return rows
        .filter(
          (row) =>
            (name === undefined || foldName(row.name).includes(foldName(name))) &&
            (scoring_type === undefined || row.scoring_type === scoring_type) &&
            (scope === undefined || row.scope === scope) &&
            (isPaused === undefined || (row.paused_reason !== null) === isPaused),
        )
        .map((row) => evaluatorJson(row, waitReason));
    },

    change: (organizationId, evaluatorId, body) =>
      changeEvaluator(context, organizationId, evaluatorId, body),

    async remove(organizationId, evaluatorId) {
      await inOrganization(sql, organizationId, async (tx) => {
        await lockEvaluators(tx, organizationId);
        await requireEvaluator(tx, organizationId, evaluatorId);
        await deleteEvaluator(tx, organizationId, evaluatorId, new Date(clock.now()));
      });
      // Evaluations that wait end here, paused ones too. The worker would come to those of other evaluators minutes after a
      // hundred thousand.
      await setStates(context, organizationId, { kind: 'evaluator-deleted', evaluatorId });
      return null;
    },

    async resume(organizationId, evaluatorId) {
      const resumed = await inOrganization(sql, organizationId, async (tx) => {
        await requireEvaluator(tx, organizationId, evaluatorId);
        await unpauseEvaluator(tx, organizationId, evaluatorId, new Date(clock.now()));
        await announceRuns(tx);
        return shown(tx, await requireEvaluator(tx, organizationId, evaluatorId));
      });
      await setStates(context, organizationId, { kind: 'evaluator-resumed', evaluatorId });
      return resumed;
    },
  };
}
