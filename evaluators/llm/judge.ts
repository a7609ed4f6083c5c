/**
 * One attempt to have a subject judged: a few calls at most, one outcome. A verdict that cannot be read is asked for once
 * more; what a provider refuses is asked for in another way; everything else is told as what it is.
 */

import type { LlmTemplate } from '#core/contracts/evaluator.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { storableJson } from '#core/json/mod.ts';
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
import type { JudgeCall, JudgeReply } from './call.ts';
import { type Completion, readCompletion, type Said } from './completion.ts';
import { type Failed, failed, readFailure } from './failure.ts';
import { FIRST_PLAN, heed, type Plan, withMoreTokens } from './plan.ts';
import { applyProbe } from './probe.ts';
import { cleanReasoning } from './reasoning.ts';
import { buildRequest, formRule, type Message, type Question } from './request.ts';
import { scaleOf } from './scale.ts';
import { judgesItself, UseMeter } from './use.ts';
import { hasVerdict, type NoVerdict, type Parse, readVerdict, type Verdict } from './verdict.ts';

export type JudgeOptions = {
  template: LlmTemplate;
  scoringType: ScoringType;
  evaluatorName: string;
  subject: Subject;
  /** A deliberate change of what the judge sees; null or absent: none. */
  probe?: Probe | null;
  call: JudgeCall;
  /** What its calls cost; absent: by the registry alone. */
  catalog?: Catalog;
  /** Stops the attempt, which then fails with `worker_lost`. */
  signal?: AbortSignal;
};

export type Judged = Evaluated & {
  /** As rendered. */
  prompt: string;
  /** What the judge answered last: the arguments of its call, its text, or the body that was neither; cut to 16 KB. */
  raw: string | null;
  /** Where the verdict was found; null when there is none. */
  parse: Parse | null;
};

/** A model that refuses everything that can be refused, is cut short, fails once, and needs a repair. */
const MAX_CALLS = 10;
const MAX_RAW_CHARACTERS = 16_384;

/**
 * Judges a subject. Never rejects for what a judge does.
 * @throws Error when the template does not fit the type; AssayError invalid_body when its prompt is none: creation
 *   allows neither
 */
export async function judge(options: JudgeOptions): Promise<Judged> {
  const { template, scoringType, subject, probe = null } = options;
  const scale = scaleOf({ scoringType, template, requestId: subject.requestId, probe });
  const parsed = parseTemplate(template.prompt);
  const { text: prompt, truncated, missing } = renderTemplate(parsed, applyProbe(subject, probe, scale));
  if (missing.length === parsed.variables.length) return withoutData(prompt, missing);
  const question = { model: template.model, evaluatorName: options.evaluatorName, scale, prompt, turns: [] };
  const attempt = new Attempt(question, options);
  const outcome = await attempt.run();
  const use = attempt.use.total();
  if (outcome.state === 'completed') {
    if (truncated) outcome.flags.push('input_truncated');
    if (judgesItself(subject.model, [template.model, use?.model ?? null]))
      outcome.flags.push('self_preference');
  }
  const warnings = missing.map((variable) => `${shownVariable(variable)} is missing in this record`);
  return { outcome, use, warnings, prompt, raw: attempt.raw, parse: attempt.parse };
}

/** A prompt without any of its values asks nothing of the record: a judge would score the word `null`. */
function withoutData(prompt: string, missing: readonly string[]): Judged {
  const names = missing.map(shownVariable).join(', ');
  const message = publicMessage(`All variables of the prompt are missing in this record: ${names}`);
  const outcome = { state: 'skipped', reason: 'variables_missing', message } as const;
  return { outcome, use: null, prompt, raw: null, parse: null };
}

/** Paths can be as long as a prompt. */
const SHOWN_VARIABLE_CHARACTERS = 100;

function shownVariable(variable: string): string {
  return variable.length > SHOWN_VARIABLE_CHARACTERS
    ? publicMessage(`${variable.slice(0, SHOWN_VARIABLE_CHARACTERS)}…`)
    : publicMessage(variable);
}

class Attempt {
  readonly use: UseMeter;
  raw: string | null = null;
  parse: Parse | null = null;
  readonly #call: JudgeCall;
  readonly #signal: AbortSignal | undefined;
  #question: Question;
  #plan: Plan;
  /** The plan that the attempt began with. */
  readonly #known: Plan;
  /** The plan to remember when it has worked: without what was only a mistake of the model's. */
  #learned: Plan;
  #hasRetried = false;
  #hasRepaired = false;

  constructor(question: Question, { call, catalog, signal }: JudgeOptions) {
    this.use = new UseMeter(question.model, catalog);
    this.#question = question;
    this.#call = call;
    this.#signal = signal;
    this.#known = call.plans.get(question.model) ?? FIRST_PLAN;
    this.#plan = this.#known;
    this.#learned = this.#known;
  }

  async run(): Promise<Outcome> {
    for (let calls = 0; calls < MAX_CALLS; calls += 1) {
      if (this.#signal?.aborted) return stopped();
      const atMs = this.#call.clock.now();
      const reply = await this.#call.send(buildRequest(this.#question, this.#plan), this.#signal);
      this.use.addCall(reply);
      const outcome = reply.kind === 'answer' ? this.#readReply(reply, atMs) : lost(reply);
      if (outcome !== null) return outcome;
    }
    return failed('judge_malformed', `The judge gave no verdict in ${MAX_CALLS} calls`);
  }

  /** Null: another call is worth it, and has been prepared. */
  #readReply(reply: Extract<JudgeReply, { kind: 'answer' }>, atMs: number): Outcome | null {
    if (reply.status < 200 || reply.status >= 300) {
      this.raw = cut(reply.text);
      return this.#readFailure(reply);
    }
    const completion = readCompletion(reply.text);
    this.use.addAnswer({ ...completion, routedModel: reply.routedModel }, atMs);
    const { said } = completion;
    this.raw = cut(said === null ? reply.text : shown(said));
    return said === null
      ? this.#retry('The judge answered with something else than a completion')
      : this.#readSaid(said);
  }

  #readFailure(reply: Extract<JudgeReply, { kind: 'answer' }>): Outcome | null {
    const failure = readFailure(reply, this.#plan);
    if (failure.kind === 'failed') return failure.outcome;
    if (failure.kind === 'malformed') return this.#retry(failure.message);
    this.#plan = heed(this.#plan, failure.complaint) ?? this.#plan;
    if (failure.lasting) this.#learned = heed(this.#learned, failure.complaint) ?? this.#learned;
    return null;
  }

  #readSaid(said: NonNullable<Completion['said']>): Outcome | null {
    const { finishReason } = said;
    if (FILTERED.test(finishReason))
      return failed('judge_content_filtered', "The judge's answer was filtered");
    if (CUT_SHORT.has(finishReason)) return this.#askForMore();
    if (finishReason === 'refusal') return failed('judge_refused', 'The judge refuses to judge');
    // What is known stays as it is, so that it is forgotten in time and the model asked anew.
    if (this.#learned !== this.#known) this.#call.plans.set(this.#question.model, this.#learned);
    if (said.refusal === null && said.toolCalls.length === 0 && said.text.trim() === '') {
      return this.#retry('The judge answered nothing');
    }
    const reading = readVerdict(said, this.#question.scale);
    return hasVerdict(reading) ? this.#complete(reading) : this.#repair(reading);
  }

  #complete(verdict: Verdict): Outcome {
    this.parse = verdict.parse;
    const wanted = this.#plan.mode === 'tool' ? 'tool_call' : 'json';
    const flags = [
      ...(verdict.parse === wanted ? [] : ['parse_fallback']),
      ...(this.#hasRepaired ? ['repaired'] : []),
    ];
    const { score, label } = verdict;
    return {
      state: 'completed',
      score,
      label,
      reasoning: cleanReasoning(verdict.reasoning),
      traces: null,
      flags,
    };
  }

  /** The same call again, once. */
  #retry(problem: string): Failed | null {
    if (this.#hasRetried) return failed('judge_malformed', problem);
    this.#hasRetried = true;
    return null;
  }

  /** The same call with room for a longer answer, once. */
  #askForMore(): Failed | null {
    const plan = withMoreTokens(this.#plan);
    if (plan === null) {
      return failed('judge_truncated', "The judge's answer was cut short by its limit of tokens");
    }
    this.#plan = plan;
    this.#learned = withMoreTokens(this.#learned) ?? this.#learned;
    return null;
  }

  /** The judge is told what was wrong, once. A score out of range stands: a judge that is pressed picks a bound. */
  #repair({ code, message }: NoVerdict): Failed | null {
    const isFinal = code === 'judge_refused' || code === 'judge_out_of_range';
    if (isFinal || this.#hasRepaired)
      return failed(code, publicMessage(`The judge's answer is no verdict: ${message}`));
    this.#hasRepaired = true;
    const turns: Message[] = [
      { role: 'assistant', content: (this.raw ?? '').slice(0, MAX_QUOTED_CHARACTERS).toWellFormed() || '{}' },
      {
        role: 'user',
        content:
          `Your answer could not be read as a verdict: ${message}. Judge again. ` +
          formRule(this.#plan.mode, this.#question.scale),
      },
    ];
    this.#question = { ...this.#question, turns };
    return null;
  }
}

const MAX_QUOTED_CHARACTERS = 4_096;
/** OpenAI's, Anthropic's, Gemini's and Mistral's words for the same. */
const CUT_SHORT = new Set(['length', 'max_tokens', 'model_length', 'max_output_tokens']);
const FILTERED =
  /^(?:content_filter|content-filter|safety|recitation|blocklist|prohibited_content|spii|guardrail)/;

function stopped(): Failed {
  return failed('worker_lost', 'The evaluation was stopped before the judge had answered', {
    retry: 'later',
  });
}

/** A call without an answer. */
function lost(reply: Exclude<JudgeReply, { kind: 'answer' }>): Failed {
  switch (reply.kind) {
    case 'too_large':
      return failed('judge_too_large', "The judge's answer is too large to be a verdict");
    case 'timeout':
      return failed('judge_timeout', 'The judge did not answer in time', { retry: 'later' });
    case 'aborted':
      return stopped();
    case 'unreachable':
      return failed('judge_unavailable', 'The gateway could not be reached, or broke off its answer', {
        retry: 'later',
      });
  }
}

function shown(said: Said): string {
  const [first] = said.toolCalls;
  if (first === undefined) return said.refusal ?? said.text;
  return said.toolCalls
    .map((call) => (typeof call.arguments === 'string' ? call.arguments : storableJson(call.arguments).text))
    .join('\n');
}

function cut(text: string): string {
  return storableText(text.length > MAX_RAW_CHARACTERS ? `${text.slice(0, MAX_RAW_CHARACTERS)}…` : text);
}
