/**
 * Evaluators as the API answers. The schemas of these answers are in api/evaluators; test/unit/dashboard/client/evaluators.test.ts
 * compares both, so that neither changes alone.
 */
import type { CodeTemplate, LlmTemplate } from '#core/contracts/evaluator.ts';
import type {
  Adapter,
  EvaluationState,
  PauseReason,
  Probe,
  RunState,
  Scope,
  ScoringType,
} from '#core/evaluations/mod.ts';

/** The members of all adapters; which of them one has depends on it. */
export type ExternalConfig = {
  adapter: Adapter;
  url?: string;
  headers?: Record<string, string> | null;
  secret?: string | null;
  timeoutMs?: number;
  metric?: string;
  metricId?: string;
  projectId?: string;
  apiKey?: string | null;
  scorer?: string;
  expected?: unknown;
  expectedFrom?: string;
  allowExtraEntities?: boolean;
  description?: string | undefined;
  categories?: { label: string; score: number }[] | undefined;
  min?: number | undefined;
  max?: number | undefined;
};

export type Templates = {
  llm_template: LlmTemplate | null;
  code_template: CodeTemplate | null;
  external_config: ExternalConfig | null;
};

export type Evaluator = Templates & {
  id: string;
  name: string;
  scoring_type: ScoringType;
  scope: Scope;
  created_at: string;
  updated_at: string;
  version: number;
  paused: { reason: PauseReason; message: string } | null;
  waiting: string | null;
  daily_budget_usd: number | null;
  threshold: number | null;
};

export type EvaluatorVersion = Templates & {
  version: number;
  is_current: boolean;
  threshold: number | null;
  created_at: string;
};

export type OnlineEvaluator = {
  id: string;
  config: {
    sampleRate: number;
    propertyFilters: { key: string; value: string }[];
    /** JSON; null: every request. */
    filter: unknown;
    probeRate: number;
    /** Evaluators of sessions have it. */
    idleSeconds?: number | undefined;
  };
  created_at: string;
};

export type Run = {
  id: string;
  version: number;
  state: RunState;
  filter: unknown;
  limit: number | null;
  sample: { n: number; seed: number | null } | null;
  max_cost_usd: number | null;
  cost_usd: number;
  batch: boolean;
  experiments: { baseline: string; candidate: string } | null;
  looking_for: 'sample' | 'requests' | null;
  reached: string | null;
  scheduled: number;
  completed: number;
  failed: number;
  skipped: number;
  cancelled: number;
  pending: number;
  created_at: string;
  updated_at: string;
};
export type DryRun = { matching: number; already_scored: number; estimated_cost_usd: number | null };

type Judge = {
  model: string | null;
  calls: number;
  request_ids: string[];
  prompt_tokens: number | null;
  completion_tokens: number | null;
  cost: number | null;
  latency_ms: number | null;
};

/** The judgment of one member of a jury. */
type Member = {
  model: string;
  score: number | null;
  label: string | null;
  reasoning: string | null;
  flags: string[];
  error: { code: string; message: string } | null;
  judge: Judge | null;
};

export type Evaluation = {
  id: string;
  evaluator_id: string;
  evaluator_name: string;
  version: number;
  request_id: string;
  request_created_at: string;
  probe: Probe | null;
  run_id: string | null;
  rubric_id: string | null;
  pair: { baseline_request_id: string; is_baseline_first: boolean } | null;
  state: EvaluationState;
  waiting: string | null;
  attempts: number;
  score: number | null;
  label: string | null;
  reasoning: string | null;
  traces: string | null;
  flags: string[];
  warnings: string[];
  error: { code: string; message: string | null } | null;
  history: { attempt: number; at: string; code: string; message: string | null }[];
  judge: Judge | null;
  members: Member[] | null;
  scheduled_at: string;
  finished_at: string | null;
};

export type Interval = { low: number; high: number };
export type Rate = Interval & { value: number };
export type Bucket =
  | { from: number; to: number; count: number }
  | { label: string; score: number; count: number };
export type Agreement = {
  basis: string;
  basis_note: string | null;
  /** The criterion whose grades stand for ratings. */
  criterion_id: string | null;
  ties: number;
  threshold: number;
  count: number;
  confusion: {
    true_positive: number;
    false_positive: number;
    false_negative: number;
    true_negative: number;
  };
  accuracy: number | null;
  rated: number;
  coverage: number | null;
  kappa: number | null;
  kappa_interval: Interval | null;
  kappa_note: string | null;
  true_positive_rate: Rate | null;
  true_negative_rate: Rate | null;
  pass_rate: Rate | null;
  corrected_pass_rate: number | null;
  corrected_pass_rate_interval: Interval | null;
  note: string | null;
};
export type ProbeStats = {
  count: number;
  mean_absolute_difference: number | null;
  flips: number;
  flip_rate: Rate | null;
};
export type Stats = {
  version: number;
  evaluations: {
    total: number;
    by_state: Record<EvaluationState, number>;
    errors: Record<string, number>;
    skips: Record<string, number>;
  };
  scores: {
    count: number;
    mean: number | null;
    standard_deviation: number | null;
    min: number | null;
    max: number | null;
    distribution: Bucket[];
  };
  daily: { day: string; count: number; mean: number | null }[];
  judge: {
    calls: number;
    prompt_tokens: number;
    completion_tokens: number;
    cost: number | null;
    latency_ms: { total: number; p50: number | null; p95: number | null };
  };
  agreement: Agreement;
  probes: Record<Probe, ProbeStats>;
  jury: {
    evaluations: number;
    level: string;
    alpha: number | null;
    alpha_note: string | null;
    members: {
      model: string;
      answered: number;
      failed: number;
      mean: number | null;
      like_jury: Rate | null;
    }[];
  } | null;
};

type TrialError = { code: string; message: string } | null;
export type LlmTrial = {
  score: number | null;
  label: string | null;
  reasoning: string | null;
  flags: string[];
  warnings: string[];
  usage: { prompt_tokens: number | null; completion_tokens: number | null; calls: number } | null;
  cost: number | null;
  prompt: string | null;
  raw: string | null;
  parse: string | null;
  members: Member[] | null;
  duration_ms: number;
  error: TrialError;
};
export type PythonTrial = {
  output: number | null;
  label: string | null;
  reasoning: string | null;
  traces: string;
  duration_ms: number;
  error: TrialError;
};
export type ExternalTrial = {
  score: number | null;
  reasoning: string | null;
  duration_ms: number;
  error: TrialError;
};
/** The result of a try-out, by the kind of evaluator. */
export type Trial =
  | { kind: 'llm'; result: LlmTrial }
  | { kind: 'python'; result: PythonTrial }
  | { kind: 'external'; result: ExternalTrial };
