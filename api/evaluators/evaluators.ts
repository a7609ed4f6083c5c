/** Creates, finds, changes, deletes and resumes evaluators. */
import { randomUUID } from 'node:crypto';
import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { templateFieldOf } from '#core/contracts/evaluator.ts';
import { foldName } from '#core/contracts/storable-text.ts';
import { isImported } from '#core/evaluations/mod.ts';
import type { ScoringType } from '#core/scoring/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { announceRuns } from './announce-work.ts';
import type { EvaluatorChangeBody, EvaluatorQueryBody, NewEvaluatorBody } from './bodies.ts';
import type { Context } from './context.ts';
import { type Definition, define, ownTemplate } from './define.ts';
import { type EvaluatorJson, type EvaluatorRow, evaluatorJson, type Templates } from './evaluator-json.ts';
import { unknown } from './ids.ts';
import { budgetOf, readChange } from './read-change.ts';
import { readName } from './read-name.ts';
import { setStates } from './set-states.ts';
import {
  addVersion,
  countEvaluators,
  deleteEvaluator,
  findEvaluator,
  findNameTaken,
  insertEvaluator,
  listEvaluators,
  lockEvaluators,
  unpauseEvaluator,
  updateEvaluator,
} from './store.ts';
import { checkThreshold } from './threshold.ts';
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

/** Attempts at a change that another change overtakes. Changes are few: one is rarely overtaken, never five times. */
const MAX_CHANGE_ATTEMPTS = 5;

/** @throws AssayError not_found */
export async function requireEvaluator(
  tx: TransactionSql,
  organizationId: string,
  id: string,
): Promise<EvaluatorRow> {
  const row = await findEvaluator(tx, organizationId, id);
  if (row === undefined) throw unknown('evaluator', id);
  return row;
}

async function shown(tx: TransactionSql, row: EvaluatorRow): Promise<EvaluatorJson> {
  return evaluatorJson(row, await readWaitReason(tx));
}

/** @throws AssayError conflict: two evaluators with one score key would write over each other's scores */
async function refuseTakenName(
  tx: TransactionSql,
  organizationId: string,
  wanted: { name: string; scoreKey: string },
  ownId: string | null,
): Promise<void> {
  const other = await findNameTaken(tx, organizationId, wanted.scoreKey, ownId);
  if (other === undefined) return;
  const message =
    other.name === wanted.name
      ? `There is an evaluator named ${quoteValue(other.name)} already: ${other.evaluator_id}`
      : `The name ${quoteValue(wanted.name)} has the score key ${quoteValue(wanted.scoreKey)}, ` +
        `which is that of the evaluator ${quoteValue(other.name)}: ${other.evaluator_id}`;
  throw new AssayError('conflict', message);
}

/** @throws AssayError conflict for an evaluator that can score nothing by itself */
export function refuseImported({ external_config }: EvaluatorRow): void {
  if (!isImported(external_config?.adapter)) return;
  throw new AssayError(
    'conflict',
    'The judgments of this evaluator are imported: it cannot score requests itself',
  );
}

/** @throws AssayError invalid_body for an evaluator that no session can be scored by */
function refuseSessions(scoringType: ScoringType, { external_config }: Templates): void {
  const foreign = (what: string) =>
    new AssayError('invalid_body', `scope must be request for ${what}: it scores no sessions`);
  if (scoringType === 'LLM-PAIRWISE') throw foreign('the scoring_type LLM-PAIRWISE');
  if (isImported(external_config?.adapter)) throw foreign('the adapter "imported"');
}

/** @throws AssayError invalid_body */
function checkThresholdOf(
  scoringType: ScoringType,
  { llm_template: llmTemplate, code_template: codeTemplate, external_config: externalConfig }: Templates,
  threshold: number | null,
  isKept: boolean,
): void {
  checkThreshold(threshold, { scoringType, llmTemplate, codeTemplate, externalConfig }, isKept);
}

export function createEvaluators(context: Context): Evaluators {
  const { sql, clock } = context;

  async function changeOnce(
    organizationId: string,
    id: string,
    body: EvaluatorChangeBody,
  ): Promise<EvaluatorJson | 'overtaken'> {
    const before = await inOrganization(sql, organizationId, (tx) =>
      requireEvaluator(tx, organizationId, id),
    );
    const change = readChange(body, before);
    const defined =
      change.template === undefined
        ? null
        : await define(context, {
            organizationId,
            evaluatorId: id,
            scoringType: before.scoring_type,
            scope: before.scope,
            value: change.template,
            previous: before,
          });
    const threshold = change.threshold === undefined ? before.threshold : change.threshold;
    checkThresholdOf(before.scoring_type, defined ?? before, threshold, change.threshold === undefined);
    // A threshold is a part of a version: which answers passed by it must not change afterwards.
    const definition = defined ?? (threshold === before.threshold ? null : before);
    return inOrganization(sql, organizationId, async (tx) => {
      await lockEvaluators(tx, organizationId);
      const current = await requireEvaluator(tx, organizationId, id);
      if (current.version !== before.version) return 'overtaken';
      if (change.name !== undefined) await refuseTakenName(tx, organizationId, change.name, id);
      const at = new Date(clock.now());
      if (definition !== null) {
        const version = current.version + 1;
        await addVersion(tx, { organizationId, evaluatorId: id, version, definition, threshold, at });
      }
      const row = await updateEvaluator(tx, {
        organizationId,
        evaluatorId: id,
        ...(change.name ?? { name: current.name, scoreKey: current.score_key }),
        dailyBudgetNano: change.budget === undefined ? current.daily_budget_nano : change.budget,
        version: definition === null ? current.version : current.version + 1,
        at,
      });
      return shown(tx, row);
    });
  }

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

    async change(organizationId, evaluatorId, body) {
      for (let attempt = 0; attempt < MAX_CHANGE_ATTEMPTS; attempt += 1) {
        const changed = await changeOnce(organizationId, evaluatorId, body);
        if (changed === 'overtaken') continue;
        if (body.daily_budget_usd !== undefined)
          await setStates(context, organizationId, { kind: 'budget-changed', evaluatorId });
        return changed;
      }
      throw new AssayError('conflict', 'This evaluator is being changed by others: try again');
    },

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
