/** An evaluation as a row, and as the API shows it. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable, OneOf, Timestamp } from '#core/contracts/shapes.ts';
import {
  EVALUATION_STATES,
  type EvaluationState,
  type Lane,
  PROBES,
  type Probe,
} from '#core/evaluations/mod.ts';
import type { MemberJudgment } from '#core/scoring/mod.ts';
import { nanoToUsd, usdOrNull } from '../requests/mod.ts';
import type { WaitReason } from './waiting.ts';

const JudgeJson = Type.Object(
  {
    model: Nullable(Type.String()),
    calls: Type.Integer(),
    request_ids: Type.Array(Type.String(), { description: "The judge's own requests" }),
    prompt_tokens: Nullable(Type.Integer()),
    completion_tokens: Nullable(Type.Integer()),
    cost: Nullable(Type.Number(), 'USD'),
    latency_ms: Nullable(Type.Number()),
  },
  closed,
);

export const MemberJson = Type.Object(
  {
    model: Type.String({ description: 'As the evaluator names it' }),
    score: Nullable(Type.Number()),
    label: Nullable(Type.String()),
    reasoning: Nullable(Type.String()),
    flags: Type.Array(Type.String()),
    error: Nullable(
      Type.Object({ code: Type.String(), message: Type.String() }, closed),
      'Why it has no score',
    ),
    judge: Nullable(JudgeJson, 'Its own calls'),
  },
  closed,
);
export type MemberJson = Static<typeof MemberJson>;

const FailedAttemptJson = Type.Object(
  {
    attempt: Type.Integer({ description: 'Its number among the failed ones, from 1' }),
    at: Timestamp,
    code: Type.String(),
    message: Nullable(Type.String()),
  },
  closed,
);
type FailedAttemptJson = Static<typeof FailedAttemptJson>;
/** Failed attempts that are shown, the latest. */
export const MAX_HISTORY = 50;

export const EvaluationJson = Type.Object(
  {
    id: Type.String(),
    evaluator_id: Type.String(),
    evaluator_name: Type.String(),
    version: Type.Integer({ description: 'Of the evaluator' }),
    request_id: Type.String(),
    request_created_at: Timestamp,
    session_id: Nullable(
      Type.String(),
      'The session that was scored, up to this request; null: the request by itself',
    ),
    probe: Nullable(
      OneOf(PROBES),
      'What was changed to measure the evaluator itself; null: an ordinary evaluation',
    ),
    run_id: Nullable(Type.String()),
    rubric_id: Nullable(Type.String(), 'The evaluation of the rubric whose judge gave this score'),
    pair: Nullable(
      Type.Object({ baseline_request_id: Type.String(), is_baseline_first: Type.Boolean() }, closed),
      'The answer that it was judged beside, and their order; null: it was judged alone',
    ),
    state: OneOf(EVALUATION_STATES),
    waiting: Nullable(Type.String(), 'Why a pending one cannot have its turn; null: it can'),
    attempts: Type.Integer(),
    score: Nullable(Type.Number()),
    label: Nullable(Type.String()),
    reasoning: Nullable(Type.String()),
    traces: Nullable(Type.String()),
    flags: Type.Array(Type.String()),
    warnings: Type.Array(Type.String(), { description: 'What the record lacked' }),
    error: Nullable(
      Type.Object({ code: Type.String(), message: Nullable(Type.String()) }, closed),
      'The last failure, or why there was nothing to score',
    ),
    history: Type.Array(FailedAttemptJson, {
      description: `The latest ${MAX_HISTORY} failed attempts, oldest first, those before a retry included`,
    }),
    judge: Nullable(JudgeJson, 'Null when no judge was called'),
    members: Nullable(
      Type.Array(MemberJson),
      'The judgments of the members of a jury; null: it has no jury, or none of it was asked',
    ),
    scheduled_at: Timestamp,
    finished_at: Nullable(Timestamp),
    imported_at: Nullable(Timestamp, 'When a judgment that was made elsewhere was imported; null: made here'),
  },
  { ...closed, $id: 'Evaluation' },
);
export type EvaluationJson = Static<typeof EvaluationJson>;

export type EvaluationRow = {
  evaluation_id: string;
  evaluator_id: string;
  evaluator_name: string;
  version: number;
  request_id: string;
  created_at: Date;
  session_id: string | null;
  probe: Probe | '';
  run_id: string | null;
  rubric_id: string | null;
  baseline_id: string;
  is_baseline_first: boolean;
  lane: Lane;
  state: EvaluationState;
  attempts: number;
  score: number | null;
  label: string | null;
  reasoning: string | null;
  traces: string | null;
  flags: string[];
  warnings: string[];
  error_code: string | null;
  error_message: string | null;
  history: FailedAttemptJson[] | null;
  judge_model: string | null;
  judge_calls: number;
  judge_request_ids: string[];
  prompt_tokens: string | null;
  completion_tokens: string | null;
  cost_nano: string | null;
  judge_latency_ms: string | null;
  members: MemberJudgment[] | null;
  scheduled_at: Date;
  finished_at: Date | null;
  imported_at: Date | null;
};

const numberOrNull = (text: string | null) => (text === null ? null : Number(text));

function judgeJson(row: EvaluationRow): EvaluationJson['judge'] {
  if (row.judge_calls === 0) return null;
  return {
    model: row.judge_model,
    calls: row.judge_calls,
    request_ids: row.judge_request_ids,
    prompt_tokens: numberOrNull(row.prompt_tokens),
    completion_tokens: numberOrNull(row.completion_tokens),
    cost: usdOrNull(row.cost_nano),
    latency_ms: numberOrNull(row.judge_latency_ms),
  };
}

/** Returns the judgment of one member of a jury as the API shows it. */
export function memberJson({ use, ...judgment }: MemberJudgment): MemberJson {
  return {
    ...judgment,
    judge:
      use === null
        ? null
        : {
            model: use.model,
            calls: use.calls,
            request_ids: use.requestIds,
            prompt_tokens: use.promptTokens,
            completion_tokens: use.completionTokens,
            cost: use.costNano === null ? null : nanoToUsd(String(use.costNano)),
            latency_ms: use.latencyMs,
          },
  };
}

/** Returns an evaluation as the API shows it. */
export function evaluationJson(row: EvaluationRow, waitReason: WaitReason): EvaluationJson {
  return {
    id: row.evaluation_id,
    evaluator_id: row.evaluator_id,
    evaluator_name: row.evaluator_name,
    version: row.version,
    request_id: row.request_id,
    request_created_at: row.created_at.toISOString(),
    session_id: row.session_id,
    probe: row.probe === '' ? null : row.probe,
    run_id: row.run_id,
    rubric_id: row.rubric_id,
    pair:
      row.baseline_id === ''
        ? null
        : { baseline_request_id: row.baseline_id, is_baseline_first: row.is_baseline_first },
    state: row.state,
    waiting: row.state === 'pending' ? waitReason(row.lane) : null,
    attempts: row.attempts,
    score: row.score,
    label: row.label,
    reasoning: row.reasoning,
    traces: row.traces,
    flags: row.flags,
    warnings: row.warnings,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message },
    history: (row.history ?? []).map((one) => ({ ...one, at: new Date(one.at).toISOString() })),
    judge: judgeJson(row),
    members: row.members?.map(memberJson) ?? null,
    scheduled_at: row.scheduled_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    imported_at: row.imported_at?.toISOString() ?? null,
  };
}
