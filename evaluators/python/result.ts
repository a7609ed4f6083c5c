/** Reads what a child answered, and turns it into the outcome that the worker stores. */
import { type Choice, chooseBy } from '#core/contracts/categories.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { cleanText, type Outcome } from '#core/scoring/mod.ts';
import type { ChildReply } from './child.ts';
import { badResult, failure, type PythonFailure } from './failure.ts';

/** The value that the code returned, unchecked. */
export type PythonScore = {
  /** Null: the label decides it. */
  score: number | null;
  label: string | null;
  reasoning: string | null;
  /** Printed output. */
  traces: string;
};

/** Code that was loaded. */
export type Loaded = { takesRecord: boolean };

/** Narrows a result. */
export function isFailure<Other extends object>(result: PythonFailure | Other): result is PythonFailure {
  return 'code' in result;
}

type AnswerReply = Extract<ChildReply, { kind: 'answer' }>;

/** Reads the answer to a job that ends with a score. */
export function readScore({ answer }: AnswerReply): PythonFailure | PythonScore {
  const traces = storableText(answer.traces);
  if (answer.kind === 'failure') return { ...failureOf(answer), traces };
  if (answer.kind !== 'score') return badResult();
  const { score, label, reasoning } = answer;
  return { score, label: cleanText(label), reasoning: cleanText(reasoning), traces };
}

/** Reads the answer to a job that loads code. */
export function readLoaded({ answer }: AnswerReply): PythonFailure | Loaded {
  if (answer.kind === 'failure') return { ...failureOf(answer), traces: storableText(answer.traces) };
  return answer.kind === 'loaded' ? { takesRecord: answer.takesRecord } : badResult();
}

function failureOf({ code, message, line, column }: Extract<AnswerReply['answer'], { kind: 'failure' }>) {
  return { ...failure(code, message), line, column };
}

/** The bound of `publicMessage`. */
const MAX_MESSAGE_LENGTH = 500;

/** Appends `end` to the message, which is shortened so that both fit. */
function withEnd(message: string, end: string): string {
  const room = MAX_MESSAGE_LENGTH - end.length;
  return message.length > room ? `${message.slice(0, room - 1)}…${end}` : message + end;
}

/** Converts a result to the outcome that the worker stores. `choices` are the evaluator's categories; null: it has none. */
export function toOutcome(result: PythonFailure | PythonScore, choices: readonly Choice[] | null): Outcome {
  const traces = result.traces === '' ? null : result.traces;
  const scored = isFailure(result) ? result : scoreByCategory(result, choices);
  if (isFailure(scored)) {
    const { code, line, retry } = scored;
    const message = line === null ? scored.message : withEnd(scored.message, ` (line ${line})`);
    return { state: 'failed', code, message, retry, retryAfterMs: null, pause: null, traces };
  }
  return { state: 'completed', ...scored, traces, flags: [] };
}

type Scored = { score: number; label: string | null; reasoning: string | null };

/** Returns the score and the label of a result. Of an evaluator with categories, each decides the other. */
function scoreByCategory(
  { score, label, reasoning }: PythonScore,
  choices: readonly Choice[] | null,
): PythonFailure | Scored {
  if (choices === null) return score === null ? badResult() : { score, label, reasoning };
  const chosen = chooseBy(label, score, choices);
  if (!('problem' in chosen))
    return { score: chosen.choice.score, label: chosen.choice.description, reasoning };
  if (chosen.problem === 'none') {
    const what = label === null ? `the score ${score}` : `the label ${JSON.stringify(label)}`;
    const allowed = choices
      .map((choice) => `${JSON.stringify(choice.description)} (${choice.score})`)
      .join(', ');
    return failure(
      'py_unknown_label',
      `evaluate returned ${what}, which no category has; they are ${allowed}`,
    );
  }
  if (chosen.problem === 'several') {
    const problem = `evaluate returned the score ${score}, which several categories have; it must return the label`;
    return failure('py_unknown_label', problem);
  }
  const { description, score: own } = chosen.choice;
  const named = JSON.stringify(description);
  const problem = `evaluate returned the label ${named} with the score ${score}, but its score is ${own}`;
  return failure('py_unknown_label', problem);
}
