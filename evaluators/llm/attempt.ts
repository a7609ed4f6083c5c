/**
 * One attempt to get a verdict: a few calls at most, one outcome. An unreadable verdict is requested once more; a request that
 * the provider refuses for one of its features is sent again without it; every other failure is the outcome.
 */
import { storableText } from '#core/contracts/storable-text.ts';
import { storableJson } from '#core/json/mod.ts';
import type { Catalog } from '#core/models/mod.ts';
import { cleanText, type FailedOutcome, type Outcome, publicMessage } from '#core/scoring/mod.ts';
import type { JudgeReply, JudgeSession } from './client.ts';
import { type Completion, type JudgeMessage, readCompletion } from './completion.ts';
import { failed, readFailure } from './failure.ts';
import { FIRST_PLAN, type JudgePlan, planWithout, withMoreTokens } from './plan.ts';
import { isScoreProblem } from './read-score.ts';
import { buildRequest, formRule, type Message, type Question } from './request.ts';
import { mend, problemsOf, type RubricReading, readRubric } from './rubric-form.ts';
import type { RubricScale } from './scale.ts';
import { UseMeter } from './use.ts';
import { hasVerdict, type NoVerdict, type ParseMethod, readVerdict, type Verdict } from './verdict.ts';

type AttemptOptions = { session: JudgeSession; catalog?: Catalog; signal?: AbortSignal };

/** Enough for a model that refuses every feature in turn, is cut short, fails once, and needs a repair. */
const MAX_CALLS = 10;
const MAX_RAW_CHARACTERS = 16_384;
/** Characters of an answer that the judge is shown when it is asked to repair it. */
const MAX_QUOTED_CHARACTERS = 4_096;

/** Finish reasons of OpenAI, Anthropic, Gemini and Mistral for an answer that reached its token limit. */
const CUT_SHORT = new Set(['length', 'max_tokens', 'model_length', 'max_output_tokens']);
const FILTERED =
  /^(?:content_filter|content-filter|safety|recitation|blocklist|prohibited_content|spii|guardrail)/;

/** The state of one attempt; `run` is called once. */
export class JudgeAttempt {
  readonly use: UseMeter;
  raw: string | null = null;
  parse: ParseMethod | null = null;
  /** The verdicts of a rubric, as far as they were given; null: none yet. */
  rubric: RubricReading | null = null;
  readonly #session: JudgeSession;
  readonly #signal: AbortSignal | undefined;
  #question: Question;
  #plan: JudgePlan;
  /** The plan that the attempt began with. */
  readonly #firstPlan: JudgePlan;
  /** The plan to remember once a call succeeds: unlike `#plan`, without changes for a mere mistake of the model. */
  #lastingPlan: JudgePlan;
  #hasRetried = false;
  #hasRepaired = false;

  constructor(question: Question, { session, catalog, signal }: AttemptOptions) {
    this.use = new UseMeter(question.model, catalog);
    this.#question = question;
    this.#session = session;
    this.#signal = signal;
    this.#firstPlan = session.plans.get(question.model) ?? FIRST_PLAN;
    this.#plan = this.#firstPlan;
    this.#lastingPlan = this.#firstPlan;
  }

  async run(): Promise<Outcome> {
    const outcome = await this.#run();
    // The answer before the failure had verdicts by some criteria, which stay.
    return outcome.state === 'failed' && this.rubric !== null ? this.#completeRubric(this.rubric) : outcome;
  }

  async #run(): Promise<Outcome> {
    for (let calls = 0; calls < MAX_CALLS; calls += 1) {
      if (this.#signal?.aborted) return stoppedOutcome();
      const atMs = this.#session.clock.now();
      const reply = await this.#session.send(buildRequest(this.#question, this.#plan), this.#signal);
      this.use.addCall(reply);
      const outcome = reply.kind === 'answer' ? this.#readReply(reply, atMs) : unansweredOutcome(reply);
      if (outcome !== null) return outcome;
    }
    return failed('judge_malformed', `The judge gave no verdict in ${MAX_CALLS} calls`);
  }

  /** Returns the outcome; null when another call has been prepared. */
  #readReply(reply: Extract<JudgeReply, { kind: 'answer' }>, atMs: number): Outcome | null {
    if (reply.status < 200 || reply.status >= 300) {
      this.raw = cutRaw(reply.text);
      return this.#readFailure(reply);
    }
    const completion = readCompletion(reply.text);
    this.use.addAnswer({ ...completion, routedModel: reply.routedModel }, atMs);
    const { message } = completion;
    this.raw = cutRaw(message === null ? reply.text : messageText(message));
    return message === null
      ? this.#retry('The judge answered with something other than a completion')
      : this.#readMessage(message);
  }

  #readFailure(reply: Extract<JudgeReply, { kind: 'answer' }>): Outcome | null {
    const failure = readFailure(reply, this.#plan);
    if (failure.kind === 'failed') return failure.outcome;
    if (failure.kind === 'malformed') return this.#retry(failure.message);
    const { feature, isLasting } = failure;
    this.#plan = planWithout(this.#plan, feature) ?? this.#plan;
    if (isLasting) this.#lastingPlan = planWithout(this.#lastingPlan, feature) ?? this.#lastingPlan;
    return null;
  }

  #readMessage(message: NonNullable<Completion['message']>): Outcome | null {
    const { finishReason } = message;
    if (FILTERED.test(finishReason))
      return failed('judge_content_filtered', "The judge's answer was filtered");
    if (CUT_SHORT.has(finishReason)) return this.#retryWithMoreTokens();
    if (finishReason === 'refusal') return failed('judge_refused', 'The judge refuses to judge');
    // An unchanged plan is not stored again, so that it expires and the refused features are tried anew.
    if (this.#lastingPlan !== this.#firstPlan)
      this.#session.plans.set(this.#question.model, this.#lastingPlan);
    if (message.refusal === null && message.toolCalls.length === 0 && message.text.trim() === '') {
      return this.#retry('The judge answered nothing');
    }
    const { scale } = this.#question;
    if (scale.kind === 'rubric') return this.#readRubric(message, scale);
    const reading = readVerdict(message, scale);
    return hasVerdict(reading) ? this.#complete(reading) : this.#repair(reading);
  }

  #complete({ score, label, reasoning, parse }: Verdict): Outcome {
    const flags = this.#flagsOf(parse);
    return { state: 'completed', score, label, reasoning: cleanText(reasoning), traces: null, flags };
  }

  #flagsOf(parse: ParseMethod): string[] {
    this.parse = parse;
    const wanted = this.#plan.mode === 'tool' ? 'tool_call' : 'json';
    return [...(parse === wanted ? [] : ['parse_fallback']), ...(this.#hasRepaired ? ['repaired'] : [])];
  }

  /** Keeps the verdicts that are there, and asks once more for those that are missing or cannot be read. */
  #readRubric(message: JudgeMessage, { criteria }: RubricScale): Outcome | null {
    const reading = readRubric(message, criteria);
    if ('code' in reading) return this.#repair(reading);
    const verdicts = this.rubric === null ? reading : mend(this.rubric, reading);
    if (verdicts.some((one) => !isScoreProblem(one))) this.rubric = verdicts;
    const problems = problemsOf(verdicts);
    if (problems === '' || this.#hasRepaired) return this.#completeRubric(verdicts);
    return this.#repair({ code: 'judge_malformed', message: problems });
  }

  /** Completes a rubric that has a verdict by at least one criterion. */
  #completeRubric(verdicts: RubricReading): Outcome {
    const given = verdicts.flatMap((one) => (isScoreProblem(one) ? [] : [one]));
    const [first] = given;
    if (first === undefined) {
      const { code, message } = verdicts.find(isScoreProblem)!;
      return failed(code, publicMessage(`The judge's answer is no verdict: ${message}`));
    }
    const flags = this.#flagsOf(first.parse);
    if (given.length < verdicts.length) flags.push('rubric_incomplete');
    return { state: 'completed', score: null, label: null, reasoning: null, traces: null, flags };
  }

  /** Prepares the same call again, once. */
  #retry(problem: string): FailedOutcome | null {
    if (this.#hasRetried) return failed('judge_malformed', problem);
    this.#hasRetried = true;
    return null;
  }

  /** Prepares the same call with room for a longer answer, once. */
  #retryWithMoreTokens(): FailedOutcome | null {
    const plan = withMoreTokens(this.#plan);
    if (plan === null) {
      return failed('judge_truncated', "The judge's answer was cut short by its limit of tokens");
    }
    this.#plan = plan;
    this.#lastingPlan = withMoreTokens(this.#lastingPlan) ?? this.#lastingPlan;
    return null;
  }

  /** Tells the judge once what was wrong. A score out of range is final: a judge that is pressed picks a bound. */
  #repair({ code, message }: NoVerdict): FailedOutcome | null {
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

function stoppedOutcome(): FailedOutcome {
  return failed('worker_lost', 'The evaluation was stopped before the judge had answered', {
    retry: 'later',
  });
}

/** Returns the outcome of a call without a response. */
function unansweredOutcome(reply: Exclude<JudgeReply, { kind: 'answer' }>): FailedOutcome {
  switch (reply.kind) {
    case 'too_large':
      return failed('judge_too_large', "The judge's answer is too large to be a verdict");
    case 'timeout':
      return failed('judge_timeout', 'The judge did not answer in time', { retry: 'later' });
    case 'aborted':
      return stoppedOutcome();
    case 'unreachable':
      return failed('judge_unavailable', 'The gateway could not be reached, or broke off its answer', {
        retry: 'later',
      });
  }
}

function messageText(message: JudgeMessage): string {
  const [first] = message.toolCalls;
  if (first === undefined) return message.refusal ?? message.text;
  return message.toolCalls
    .map((call) => (typeof call.arguments === 'string' ? call.arguments : storableJson(call.arguments).text))
    .join('\n');
}

function cutRaw(text: string): string {
  return storableText(text.length > MAX_RAW_CHARACTERS ? `${text.slice(0, MAX_RAW_CHARACTERS)}…` : text);
}
