/** An evaluator as a row, and as callers see it. */
import type { CodeTemplate, LlmTemplate } from '#core/contracts/evaluator.ts';
import type { ExternalConfig } from '#core/contracts/external.ts';
import { laneOf, type PauseReason, type ScoringType } from '#core/scoring/mod.ts';
import { usdOrNull } from './budget.ts';
import type { WaitReason } from './waiting.ts';

/** What an evaluator does: one of the three is there. */
export type Templates = {
  llm_template: LlmTemplate | null;
  code_template: CodeTemplate | null;
  /** Without its secrets. */
  external_config: ExternalConfig | null;
};

/** An evaluator with its current version. */
export type EvaluatorRow = Templates & {
  evaluator_id: string;
  organization_id: string;
  name: string;
  score_key: string;
  scoring_type: ScoringType;
  version: number;
  paused_reason: PauseReason | null;
  paused_message: string | null;
  daily_budget_nano: string | null;
  created_at: Date;
  updated_at: Date;
  secrets: Buffer | null;
};

export type EvaluatorJson = Templates & {
  id: string;
  name: string;
  scoring_type: ScoringType;
  organization_id: string;
  created_at: string;
  updated_at: string;
  /** Of the templates: scores carry it. */
  version: number;
  /** Why it was stopped; null: it runs. */
  paused: { reason: PauseReason; message: string } | null;
  /** Why none of its evaluations can begin; null: they can. */
  waiting: string | null;
  /** What its judges may cost a day (UTC); null: no limit. */
  daily_budget_usd: number | null;
};

/** The fields of the interface, in its order, and then ours. */
export function evaluatorJson(row: EvaluatorRow, waitReason: WaitReason): EvaluatorJson {
  return {
    id: row.evaluator_id,
    name: row.name,
    scoring_type: row.scoring_type,
    llm_template: row.llm_template,
    code_template: row.code_template,
    external_config: row.external_config,
    organization_id: row.organization_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    version: row.version,
    paused:
      row.paused_reason === null ? null : { reason: row.paused_reason, message: row.paused_message ?? '' },
    waiting: waitReason(laneOf(row.scoring_type, row.external_config?.adapter ?? null)),
    daily_budget_usd: usdOrNull(row.daily_budget_nano),
  };
}
