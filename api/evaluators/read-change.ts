/** Reads the body of a change of an evaluator. */
import { AssayError } from '#core/contracts/errors.ts';
import type { ScoringType } from '#core/scoring/mod.ts';
import { usdToNano } from '../requests/mod.ts';
import type { EvaluatorChangeBody } from './bodies.ts';
import { ownTemplate } from './define.ts';
import type { EvaluatorRow } from './evaluator-json.ts';
import { readName } from './read-name.ts';

const CHANGEABLE = [
  'name',
  'llm_template',
  'code_template',
  'external_config',
  'daily_budget_usd',
  'threshold',
] as const;

/**
 * Returns a daily budget in nano-dollars; null: no limit. Only judges cost.
 * @throws AssayError invalid_body
 */
export function budgetOf(scoringType: ScoringType, usd: number | null | undefined): number | null {
  if (usd === undefined || usd === null) return null;
  const invalid = (problem: string) => new AssayError('invalid_body', `daily_budget_usd ${problem}`);
  const nano = usdToNano(usd);
  if (nano === null) throw invalid(`must have at most 9 decimals, but is ${usd}`);
  if (scoringType === 'PYTHON') throw invalid('does not belong to the scoring_type PYTHON');
  return nano;
}

type Change = {
  name: { name: string; scoreKey: string } | undefined;
  /** The value of the type's own template; undefined: it stays. */
  template: unknown;
  /** Nano-dollars, null for no limit; undefined: it stays. */
  budget: number | null | undefined;
  /** Null for the middle of the scores; undefined: it stays. */
  threshold: number | null | undefined;
};

/** @throws AssayError invalid_body */
export function readChange(body: EvaluatorChangeBody, current: EvaluatorRow): Change {
  if (body.scoring_type !== undefined && body.scoring_type !== current.scoring_type) {
    throw new AssayError(
      'invalid_body',
      `scoring_type cannot change: it is ${current.scoring_type}, but ${body.scoring_type} is asked for; make another evaluator`,
    );
  }
  if (body.scope !== undefined && body.scope !== current.scope) {
    throw new AssayError(
      'invalid_body',
      `scope cannot change: it is ${current.scope}, but ${body.scope} is asked for; make another evaluator`,
    );
  }
  if (CHANGEABLE.every((field) => body[field] === undefined)) {
    throw new AssayError('invalid_body', `body must hold at least one of ${CHANGEABLE.join(', ')}`);
  }
  return {
    name: body.name === undefined ? undefined : readName(body.name),
    template: ownTemplate(current.scoring_type, body),
    budget:
      body.daily_budget_usd === undefined ? undefined : budgetOf(current.scoring_type, body.daily_budget_usd),
    threshold: body.threshold,
  };
}
