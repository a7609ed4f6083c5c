/** Plans: the features that a judge's request uses, and the memory of models that refuse some of them. */

import { LRUCache } from 'lru-cache';
import { MAX_VERDICT_TOKENS } from '#core/scoring/mod.ts';

/**
 * The form in which the verdict is requested, best first: by a tool that the judge must call, by a schema that its answer
 * must fit, by words alone.
 */
export type PlanMode = 'tool' | 'schema' | 'text';

/** The features of a judge's request. */
export type JudgePlan = {
  readonly mode: PlanMode;
  /** True when `temperature: 0` is sent. */
  readonly sendsTemperature: boolean;
  /** The parameter that limits the tokens of the answer; null: the answer is not limited. */
  readonly limitName: 'max_tokens' | 'max_completion_tokens' | null;
  readonly maxTokens: number;
  /** True when the rules are a system message; false when they precede the prompt. */
  readonly hasSystemMessage: boolean;
};

/** The limit after an answer was cut short. */
const MORE_TOKENS = 8_192;

/** The plan for a model without a remembered one. */

export const FIRST_PLAN: JudgePlan = {
  mode: 'tool',
  sendsTemperature: true,
  limitName: 'max_tokens',
  maxTokens: MAX_VERDICT_TOKENS,
  hasSystemMessage: true,
};

/** A feature of a plan that a provider may refuse. */
export type UnsupportedFeature =
  | 'tools'
  | 'response_format'
  | 'temperature'
  | 'max_tokens'
  | 'max_tokens_name'
  | 'system';

/** Returns the plan without a feature; null when the plan does not use it. */
export function planWithout(plan: JudgePlan, feature: UnsupportedFeature): JudgePlan | null {
  switch (feature) {
    case 'tools':
      return plan.mode === 'tool' ? { ...plan, mode: 'schema' } : null;
    case 'response_format':
      return plan.mode === 'schema' ? { ...plan, mode: 'text' } : null;
    case 'temperature':
      return plan.sendsTemperature ? { ...plan, sendsTemperature: false } : null;
    case 'max_tokens_name':
      return plan.limitName === 'max_tokens' ? { ...plan, limitName: 'max_completion_tokens' } : null;
    case 'max_tokens':
      return plan.limitName === null ? null : { ...plan, limitName: null };
    case 'system':
      return plan.hasSystemMessage ? { ...plan, hasSystemMessage: false } : null;
  }
}

/** Returns the plan with a higher limit of tokens; null when it has the highest, or none. */
export function withMoreTokens(plan: JudgePlan): JudgePlan | null {
  return plan.limitName === null || plan.maxTokens >= MORE_TOKENS
    ? null
    : { ...plan, maxTokens: MORE_TOKENS };
}

/** The last plan that worked, by model. */
export type PlanMemory = {
  get(model: string): JudgePlan | undefined;
  set(model: string, plan: JudgePlan): unknown;
};

const MODELS_REMEMBERED = 1_000;
/** Providers add features: a refused one is tried again after a day. */
const REMEMBERED_MS = 24 * 3_600_000;

/** Makes the memory of one process. */
export function createPlanMemory(): PlanMemory {
  return new LRUCache<string, JudgePlan>({ max: MODELS_REMEMBERED, ttl: REMEMBERED_MS });
}
