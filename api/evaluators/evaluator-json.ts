/** An evaluator as a row, and as the API shows it. */
import { type Static, Type } from '@sinclair/typebox';
import { Categories } from '#core/contracts/categories.ts';
import { CodeLimits, type CodeTemplate, type LlmTemplate } from '#core/contracts/evaluator.ts';
import { Examples } from '#core/contracts/examples.ts';
import type { ExternalConfig } from '#core/contracts/external.ts';
import { JURY_RULES } from '#core/contracts/jury.ts';
import { closed, Nullable, OneOf, Timestamp } from '#core/contracts/shapes.ts';
import {
  ADAPTERS,
  isImported,
  laneOf,
  PAUSE_REASONS,
  type PauseReason,
  SCOPES,
  SCORING_TYPES,
  type Scope,
  type ScoringType,
} from '#core/evaluations/mod.ts';
import { usdOrNull } from '../requests/mod.ts';
import type { WaitReason } from './waiting.ts';

/** The definition of an evaluator: exactly one of the three is set. */
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
  scope: Scope;
  version: number;
  paused_reason: PauseReason | null;
  paused_message: string | null;
  daily_budget_nano: string | null;
  threshold: number | null;
  created_at: Date;
  updated_at: Date;
  secrets: Buffer | null;
};

const Choice = Type.Object({ score: Type.Number(), description: Type.String() }, closed);
const JuryJson = Type.Object(
  { models: Type.Array(Type.String()), rule: OneOf(JURY_RULES), quorum: Type.Integer() },
  closed,
);
const LlmTemplateShape = Type.Object(
  {
    model: Type.String(),
    prompt: Type.String(),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    choices: Type.Optional(Type.Array(Choice)),
    examples: Type.Optional(Examples),
    jury: Type.Optional(JuryJson),
    criteria: Type.Optional(Type.Array(Type.Object({ id: Type.String(), version: Type.Integer() }, closed))),
  },
  closed,
);
const CodeTemplateShape = Type.Object(
  { code: Type.String(), categories: Type.Optional(Categories), limits: Type.Optional(CodeLimits) },
  closed,
);
/** Settings of an external evaluator; the fields depend on the adapter. */
const ExternalConfigShape = Type.Unsafe<ExternalConfig>(Type.Object({ adapter: OneOf(ADAPTERS) }));

/** The definition of an evaluator, as a caller gave it. */
export const TemplateShapes = {
  llm_template: Nullable(LlmTemplateShape),
  code_template: Nullable(CodeTemplateShape),
  external_config: Nullable(ExternalConfigShape, 'With [secret] in the place of each secret'),
};

/** The threshold of a version, as a caller gave it. */
export const ThresholdShape = Nullable(
  Type.Number(),
  'Answers pass from this score on; null: from the middle of its scores',
);

/** The fields of the published interface, in its order, and then Assay's own. */
export const EvaluatorJson = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    scoring_type: OneOf(SCORING_TYPES),
    ...TemplateShapes,
    organization_id: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
    version: Type.Integer({ description: 'Of the template; scores carry it' }),
    paused: Nullable(
      Type.Object({ reason: OneOf(PAUSE_REASONS), message: Type.String() }, closed),
      'Why it was stopped; null: it runs',
    ),
    waiting: Nullable(Type.String(), 'Why none of its evaluations can begin; null: they can'),
    daily_budget_usd: Nullable(Type.Number(), 'What its judges may cost a day (UTC); null: no limit'),
    threshold: ThresholdShape,
    scope: { ...OneOf(SCOPES), description: 'What it scores: each request, or each whole session' },
  },
  { ...closed, $id: 'Evaluator' },
);
export type EvaluatorJson = Static<typeof EvaluatorJson>;

/** Returns an evaluator as the API shows it. */
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
    waiting: isImported(row.external_config?.adapter)
      ? null
      : waitReason(laneOf(row.scoring_type, row.external_config?.adapter ?? null)),
    daily_budget_usd: usdOrNull(row.daily_budget_nano),
    threshold: row.threshold,
    scope: row.scope,
  };
}
