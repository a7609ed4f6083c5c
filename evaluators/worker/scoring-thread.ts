/**
 * Entry point of a scoring thread. Evaluations by judges and services run here entirely: bodies are parsed, prompts
 * rendered and responses read in the thread, so that a large record does not block the main thread's timers. Evaluations
 * in Python are only prepared here, and run by the main thread's sandbox.
 */
import { workerData } from 'node:worker_threads';
import type { LlmTemplate } from '#core/contracts/evaluator.ts';
import type { CalledConfig } from '#core/contracts/external.ts';
import type { OperatorModels } from '#core/models/mod.ts';
import { createCatalog } from '#core/models/mod.ts';
import {
  type Evaluated,
  type LlmScoringType,
  type MemberJudgment,
  type Probe,
  readSubject,
  type StoredRecord,
  type Subject,
} from '#core/scoring/mod.ts';
import { allowListOf, createOutbound } from '#platform/outbound/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { createProxyChoice, NO_PROXIES, type ProxySettings } from '#platform/proxy/mod.ts';
import { INTERNAL_HEADER, signInternalCall } from '#platform/secrets/mod.ts';
import { type ExternalItem, runExternalMany } from '../external/mod.ts';
import {
  type Criterion,
  createJudgeClient,
  type Judged,
  judgeOrJury,
  judgePair,
  judgeRubric,
} from '../llm/mod.ts';
import { type BatchItem, completeBatch, done, open } from './batch.ts';

/** Configuration of a thread. */
export type ThreadData = {
  gatewayUrl: string;
  /** Path of the gateway's certificate; absent: the system's authorities decide. */
  gatewayCertFile?: string | null;
  internalSecret: string;
  outboundAllow: string[];
  /** Absent: no proxies. */
  proxies?: ProxySettings;
  /** Models of MODELS_FILE, which extend the registry's prices; absent: none. */
  models?: OperatorModels | null;
  judgeTimeouts: { connectMs: number; firstByteMs: number; totalMs: number };
};

export type JudgeTask = {
  call: StoredRecord;
  organizationId: string;
  evaluationId: string;
  scoringType: LlmScoringType;
  evaluatorName: string;
  template: LlmTemplate;
  probe: Probe | null;
  /** The judgments of a jury's members at an earlier attempt. Absent: none. */
  earlier?: readonly MemberJudgment[];
};
export type ExternalTask = {
  items: { evaluationId: string; call: StoredRecord }[];
  evaluator: { id: string; version: number; name: string };
  config: CalledConfig;
  secrets: Record<string, string>;
};

const data = workerData as ThreadData;
const clock = systemClock;
const catalog = createCatalog(data.models ?? null);
const proxyFor = createProxyChoice(data.proxies ?? NO_PROXIES);
const edge = createJudgeClient({
  gatewayUrl: data.gatewayUrl,
  gatewayCertFile: data.gatewayCertFile ?? null,
  internalHeaders: (organizationId, evaluationId) => ({
    [INTERNAL_HEADER]: signInternalCall(data.internalSecret, { organizationId, evaluationId }, clock.now()),
  }),
  timeouts: data.judgeTimeouts,
  clock,
  proxyFor,
});
const outbound = createOutbound({ allow: allowListOf(data.outboundAllow), proxyFor });

/** The part of a call that Python code receives. The session is JSON: its long numbers would not survive the way out of the thread. */
export type PythonTexts = Pick<Subject, 'input' | 'output'> & { session?: string };

/** Returns the texts of each call, or its outcome if there is nothing to evaluate. */
export function preparePython(calls: readonly StoredRecord[]): BatchItem<PythonTexts, Evaluated>[] {
  return calls.map((call) => {
    const subject = readSubject(call);
    if ('skipped' in subject) return done(skip(subject));
    const { input, output, session } = subject;
    return open({ input, output, ...(session !== undefined && { session: JSON.stringify(session) }) });
  });
}

/** Has a judge, or a jury, score a call. */
export async function judgeCall(task: JudgeTask): Promise<Evaluated | Judged> {
  const subject = readSubject(task.call);
  if ('skipped' in subject) return skip(subject);
  return await judgeOrJury({ ...task, subject, session: sessionFor(task), catalog });
}

function sessionFor({ organizationId, evaluationId }: { organizationId: string; evaluationId: string }) {
  return edge.sessionFor(organizationId, evaluationId);
}

/** A second answer to the same question, and the order in which the judge sees the two. */
export type JudgedPair = { baseline: StoredRecord; isBaselineFirst: boolean };
export type PairTask = Omit<JudgeTask, 'scoringType'> & { pair: JudgedPair };

/** Has a judge compare the answer of a call with that of another. */
export async function judgeCallInPair({ pair, ...task }: PairTask): Promise<Evaluated | Judged> {
  const candidate = readSubject(task.call);
  if ('skipped' in candidate) return skip(candidate);
  const baseline = readSubject(pair.baseline);
  if ('skipped' in baseline) return skip({ ...baseline, message: `The baseline: ${baseline.message}` });
  const { isBaselineFirst } = pair;
  return await judgePair({
    ...task,
    candidate,
    baseline,
    isBaselineFirst,
    session: sessionFor(task),
    catalog,
  });
}

export type RubricTask = Omit<JudgeTask, 'scoringType' | 'probe' | 'earlier'> & {
  criteria: readonly Criterion[];
};

/** Has a judge score a call by several criteria. */
export async function judgeCallByRubric(task: RubricTask): Promise<Evaluated | Judged> {
  const subject = readSubject(task.call);
  if ('skipped' in subject) return skip(subject);
  return await judgeRubric({ ...task, subject, session: sessionFor(task), catalog }, task.criteria);
}

/** Has a service, or a comparison in process, score calls: one result for each, in order. */
export async function scoreExternally(task: ExternalTask): Promise<Evaluated[]> {
  const batch = task.items.map(({ evaluationId, call }): BatchItem<ExternalItem, Evaluated> => {
    const subject = readSubject(call);
    return 'skipped' in subject ? done(skip(subject)) : open({ evaluationId, subject });
  });
  return await completeBatch(batch, (items) => runExternalMany({ ...task, items, outbound, clock }));
}

function skip({ skipped, message }: Exclude<ReturnType<typeof readSubject>, Subject>): Evaluated {
  return { outcome: { state: 'skipped', reason: skipped, message }, use: null };
}
