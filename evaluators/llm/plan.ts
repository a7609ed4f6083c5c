/** How a judge is asked, and what was learned of models that refuse to be asked so. */
import { LRUCache } from 'lru-cache';

/**
 * How the verdict is asked for, best first: by a tool that the judge must call, by a schema that its answer must fit, by
 * words alone.
 */
export type Mode = 'tool' | 'schema' | 'text';

export type Plan = {
  readonly mode: Mode;
  /** Whether `temperature: 0` is sent. */
  readonly temperature: boolean;
  /** The name of the limit on the answer's tokens; null: none is sent. */
  readonly limit: 'max_tokens' | 'max_completion_tokens' | null;
  readonly maxTokens: number;
  /** Whether the rules are a system message of their own. */
  readonly system: boolean;
};

/** A reasoning and a score take some hundred tokens; more lets models think before that. */
const MAX_TOKENS = 2_048;
const MORE_TOKENS = 8_192;

export const FIRST_PLAN: Plan = {
  mode: 'tool',
  temperature: true,
  limit: 'max_tokens',
  maxTokens: MAX_TOKENS,
  system: true,
};

/** What of a plan a provider refuses. */
export type Complaint =
  | 'tools'
  | 'response_format'
  | 'temperature'
  | 'max_tokens'
  | 'max_tokens_name'
  | 'system';

/** The plan that heeds a complaint; null when the plan does not do what is complained about. */
export function heed(plan: Plan, complaint: Complaint): Plan | null {
  switch (complaint) {
    case 'tools':
      return plan.mode === 'tool' ? { ...plan, mode: 'schema' } : null;
    case 'response_format':
      return plan.mode === 'schema' ? { ...plan, mode: 'text' } : null;
    case 'temperature':
      return plan.temperature ? { ...plan, temperature: false } : null;
    case 'max_tokens_name':
      return plan.limit === 'max_tokens' ? { ...plan, limit: 'max_completion_tokens' } : null;
    case 'max_tokens':
      return plan.limit === null ? null : { ...plan, limit: null };
    case 'system':
      return plan.system ? { ...plan, system: false } : null;
  }
}

/** The plan that leaves room for an answer that was cut short; null when there is no more room. */
export function withMoreTokens(plan: Plan): Plan | null {
  return plan.limit === null || plan.maxTokens >= MORE_TOKENS ? null : { ...plan, maxTokens: MORE_TOKENS };
}

/** Which plan worked for a model. */
export type PlanMemory = { get(model: string): Plan | undefined; set(model: string, plan: Plan): unknown };

const MODELS_REMEMBERED = 1_000;
/** Providers learn: what a model refused yesterday is tried again. */
const REMEMBERED_MS = 24 * 3_600_000;

/** A memory for one process. */
export function createPlanMemory(): PlanMemory {
  return new LRUCache<string, Plan>({ max: MODELS_REMEMBERED, ttl: REMEMBERED_MS });
}
