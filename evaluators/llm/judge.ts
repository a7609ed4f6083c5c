/** Judges a subject: renders the prompt, runs one attempt, and adds the flags and warnings about the record. */
import type { LlmTemplate } from '#core/contracts/evaluator.ts';
import type { Catalog } from '#core/models/mod.ts';
import {
  type Evaluated,
  type Outcome,
  type Probe,
  parseTemplate,
  publicMessage,
  renderTemplate,
  type ScoringType,
  type Subject,
} from '#core/scoring/mod.ts';
import { JudgeAttempt } from './attempt.ts';
import type { JudgeSession } from './client.ts';
import { renderExamples } from './examples.ts';
import { applyProbe } from './probe.ts';
import { scaleOf } from './scale.ts';
import { judgesItself } from './use.ts';
import type { ParseMethod } from './verdict.ts';

/** The input of one attempt. */
export type JudgeOptions = {
  template: LlmTemplate;
  scoringType: ScoringType;
  evaluatorName: string;
  subject: Subject;
  /** A deliberate change to the judge's input; null or absent: none. */
  probe?: Probe | null;
  session: JudgeSession;
  /** The catalog that prices the calls; absent: the built-in one. */
  catalog?: Catalog;
  /** Stops the attempt, which then fails with `worker_lost`. */
  signal?: AbortSignal;
};

/** The result of one attempt, with the steps that led to it. */
export type Judged = Evaluated & {
  /** The examples and the rendered prompt. */
  prompt: string;
  /** The judge's last answer: the arguments of its tool call, its text, or a body that has neither; at most 16 KB. */
  raw: string | null;
  /** The form in which the verdict was found; null when there is none. */
  parse: ParseMethod | null;
};

/**
 * Judges a subject. Nothing that a judge does makes it reject.
 * @throws Error when the template does not fit the type; AssayError invalid_body when its prompt is invalid. Creation
 *   refuses both
 */
export async function judge(options: JudgeOptions): Promise<Judged> {
  const { template, scoringType, subject, probe = null } = options;
  const scale = scaleOf({ scoringType, template, requestId: subject.requestId, probe });
  const parsed = parseTemplate(template.prompt, subject.session === undefined ? 'request' : 'session');
  const rendered = renderTemplate(parsed, applyProbe(subject, probe, scale));
  const { truncated, missing } = rendered;
  const { examples = [] } = template;
  const prompt = renderExamples(examples, scale) + rendered.text;
  if (missing.length === parsed.variables.length) return skippedWithoutData(prompt, missing);
  const question = {
    model: template.model,
    evaluatorName: options.evaluatorName,
    scale,
    hasExamples: examples.length > 0,
    prompt,
    turns: [],
  };
  const attempt = new JudgeAttempt(question, options);
  const outcome = await attempt.run();
  const use = attempt.use.total();
  addCautions(outcome, { truncated, subject, models: [template.model, use?.model ?? null] });
  return { outcome, use, warnings: warningsOf(missing), prompt, raw: attempt.raw, parse: attempt.parse };
}

/** Adds the flags of a completed outcome that come from the record. */
export function addCautions(
  outcome: Outcome,
  facts: { truncated: boolean; subject: Subject; models: readonly (string | null)[] },
): void {
  if (outcome.state !== 'completed') return;
  if (facts.truncated || facts.subject.session?.is_cut) outcome.flags.push('input_truncated');
  if (judgesItself(facts.subject.model, facts.models)) outcome.flags.push('self_preference');
}

/** Returns the warnings about variables without a value. */
export function warningsOf(missing: readonly string[]): string[] {
  return missing.map((variable) => `${variableName(variable)} is missing in this record`);
}

/** Skips a record that has none of the prompt's values: a judge would score the word `null`. */
export function skippedWithoutData(prompt: string, missing: readonly string[]): Judged {
  const names = missing.map(variableName).join(', ');
  const message = publicMessage(`All variables of the prompt are missing in this record: ${names}`);
  const outcome = { state: 'skipped', reason: 'variables_missing', message } as const;
  return { outcome, use: null, prompt, raw: null, parse: null };
}

/** A path can be as long as a prompt. */
const SHOWN_VARIABLE_CHARACTERS = 100;

function variableName(variable: string): string {
  return variable.length > SHOWN_VARIABLE_CHARACTERS
    ? publicMessage(`${variable.slice(0, SHOWN_VARIABLE_CHARACTERS)}…`)
    : publicMessage(variable);
}
