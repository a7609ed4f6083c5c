/** Changes an evaluator. A change of its definition or threshold makes a new version. */
import { AssayError } from '#core/contracts/errors.ts';
import { inOrganization } from '#platform/postgres/mod.ts';
import type { EvaluatorChangeBody } from './bodies.ts';
import type { Context } from './context.ts';
import { define } from './define.ts';
import { type EvaluatorJson, evaluatorJson } from './evaluator-json.ts';
import { readChange } from './read-change.ts';
import { checkThresholdOf, refuseTakenName, requireEvaluator } from './rules.ts';
import { setStates } from './set-states.ts';
import { addVersion, lockEvaluators, updateEvaluator } from './store.ts';
import { readWaitReason } from './waiting.ts';

/** Attempts at a change that another change overtakes. Changes are few: one is rarely overtaken, never five times. */
const MAX_CHANGE_ATTEMPTS = 5;

/** Changes an evaluator, unless another change overtakes it while its code is compiled and its judge looked up. */
async function changeOnce(
  context: Context,
  organizationId: string,
  id: string,
  body: EvaluatorChangeBody,
): Promise<EvaluatorJson | 'overtaken'> {
  const before = await inOrganization(context.sql, organizationId, (tx) =>
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
  return inOrganization(context.sql, organizationId, async (tx) => {
    await lockEvaluators(tx, organizationId);
    const current = await requireEvaluator(tx, organizationId, id);
    if (current.version !== before.version) return 'overtaken';
    if (change.name !== undefined) await refuseTakenName(tx, organizationId, change.name, id);
    const at = new Date(context.clock.now());
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
    return evaluatorJson(row, await readWaitReason(tx));
  });
}

/** @throws AssayError not_found, invalid_body, conflict when the name is taken or other changes overtake this one */
export async function changeEvaluator(
  context: Context,
  organizationId: string,
  evaluatorId: string,
  body: EvaluatorChangeBody,
): Promise<EvaluatorJson> {
  for (let attempt = 0; attempt < MAX_CHANGE_ATTEMPTS; attempt += 1) {
    const changed = await changeOnce(context, organizationId, evaluatorId, body);
    if (changed === 'overtaken') continue;
    if (body.daily_budget_usd !== undefined)
      await setStates(context, organizationId, { kind: 'budget-changed', evaluatorId });
    return changed;
  }
  throw new AssayError('conflict', 'This evaluator is being changed by others: try again');
}
