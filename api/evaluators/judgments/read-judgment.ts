/** Reads one imported judgment into the outcome of an evaluation. Pure. */
import { type Choice, chooseBy } from '#core/contracts/categories.ts';
import { Compile, parseWith, quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { Judgment } from '#core/contracts/judgment.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { cleanText, type EvaluationState, MAX_REASONING_BYTES } from '#core/scoring/mod.ts';
import { loggablePeriod, readCreatedAt } from '../../log/mod.ts';
import { choicesFor, rangeOf, type ScoreDefinition } from '../threshold.ts';

/** The versions of the evaluator that judgments name, by number. */
export type Versions = { current: number; byNumber: ReadonlyMap<number, ScoreDefinition> };

/** A judgment as it is stored. */
export type ReadJudgment = {
  requestId: string;
  version: number;
  state: Extract<EvaluationState, 'completed' | 'skipped' | 'error'>;
  score: number | null;
  label: string | null;
  reasoning: string | null;
  warnings: string[];
  errorCode: string | null;
  errorMessage: string | null;
  finishedAt: Date;
};

const checker = Compile(Judgment);

/** The code of a judgment with a score of null. */
const NO_VERDICT = 'no_verdict';

/**
 * Checks the shape of a judgment.
 * @throws AssayError invalid_body
 */
export function parseJudgment(value: unknown): Judgment {
  return parseWith(checker, value);
}

/**
 * Reads a judgment whose shape is known.
 * @throws AssayError invalid_body
 */
export function readJudgment(given: Judgment, versions: Versions, nowMs: number): ReadJudgment {
  const { version = versions.current, evaluatedAt = nowMs } = given;
  const definition = versions.byNumber.get(version);
  if (definition === undefined)
    throw invalidField(
      'version',
      `must be one of the evaluator's, 1 to ${versions.current}, but is ${version}`,
    );
  const finishedAtMs = readCreatedAt(evaluatedAt, 'evaluatedAt', loggablePeriod(nowMs, null));
  return {
    requestId: storableText(given.requestId),
    version,
    ...readVerdict(given, definition),
    ...readReasoning(given.reasoning ?? null),
    finishedAt: new Date(finishedAtMs),
  };
}

function readReasoning(given: string | null): Pick<ReadJudgment, 'reasoning' | 'warnings'> {
  const reasoning = cleanText(given);
  const isCut = given !== null && Buffer.byteLength(given.trim()) > MAX_REASONING_BYTES;
  return { reasoning, warnings: isCut ? [`The reasoning was cut to ${MAX_REASONING_BYTES} bytes`] : [] };
}

type Verdict = Pick<ReadJudgment, 'state' | 'score' | 'label' | 'errorCode' | 'errorMessage'>;

function readVerdict({ score, label, error }: Judgment, definition: ScoreDefinition): Verdict {
  const hasLabel = (label ?? null) !== null;
  if (error !== undefined && error !== null) {
    if ((score ?? null) !== null || hasLabel)
      throw invalidField('error', 'excludes a score and a label: a judgment has either');
    const message = cleanText(error.message ?? null);
    return { state: 'error', score: null, label: null, errorCode: error.code, errorMessage: message };
  }
  if (score === null && !hasLabel)
    return { state: 'skipped', score: null, label: null, errorCode: NO_VERDICT, errorMessage: null };
  if (score === undefined && !hasLabel) throw invalidField('score', 'is required, or a label or an error');
  const number = score === undefined || score === null ? null : Number(score) + 0;
  const scored = readScore(number, cleanText(label ?? null), definition);
  return { state: 'completed', ...scored, errorCode: null, errorMessage: null };
}

type Scored = { score: number; label: string | null };

function readScore(score: number | null, label: string | null, definition: ScoreDefinition): Scored {
  if (score !== null && !Number.isFinite(score)) throw invalidField('score', 'must be a finite number');
  const choices = choicesFor(definition);
  if (choices !== undefined) return readChoice(score, label, choices);
  const { scoringType } = definition;
  if (score === null)
    throw invalidField('label', 'needs a score beside it, because the evaluator has no labels of its own');
  if (label !== null && scoringType.startsWith('LLM-'))
    throw invalidField('label', `does not belong to the scoring_type ${scoringType}`);
  if (scoringType === 'LLM-BOOLEAN' && score !== 0 && score !== 1)
    throw invalidField('score', `must be true, false, 1 or 0, but is ${score}`);
  const range = rangeOf(definition);
  if (range !== null && (score < range.min || score > range.max))
    throw invalidField('score', `must be a number from ${range.min} to ${range.max}, but is ${score}`);
  return { score, label };
}

function readChoice(score: number | null, label: string | null, choices: readonly Choice[]): Scored {
  const chosen = chooseBy(label, score, choices);
  if (!('problem' in chosen)) return { score: chosen.choice.score, label: chosen.choice.description };
  const allowed = choices.map((choice) => `${quoteValue(choice.description)} (${choice.score})`).join(', ');
  switch (chosen.problem) {
    case 'none':
      throw label === null
        ? invalidField('score', `must be that of one of ${allowed}, but is ${score}`)
        : invalidField('label', `must be one of ${allowed}, but is ${quoteValue(label)}`);
    case 'several':
      throw invalidField('score', `is that of several labels, so that a label is needed: ${allowed}`);
    case 'other score':
      throw invalidField('score', `must be ${chosen.choice.score}, that of the label, but is ${score}`);
  }
}

/** Returns the sentence for a judgment that breaks a rule; any other error is thrown. */
export function ruleOf(error: unknown): string {
  if (error instanceof AssayError && error.code === 'invalid_body') return error.message;
  throw error;
}
