/**
 * One evaluation by a judge or a service, in a thread of the pool: bodies are parsed, prompts rendered and answers read
 * there, so that a large record holds up nobody's timers. Python's is prepared here too, and run by the main thread's
 * sandbox.
 */
import { workerData } from 'node:worker_threads';
import type { LlmTemplate } from '#core/contracts/evaluator.ts';
import type { ExternalConfig } from '#core/contracts/external.ts';
import type { OperatorModels } from '#core/models/mod.ts';
import { createCatalog } from '#core/models/mod.ts';
import {
  type Evaluated,
  type Probe,
  readSubject,
  type ScoringType,
  type StoredCall,
  type Subject,
} from '#core/scoring/mod.ts';
import { createOutbound, parseAllowList } from '#platform/outbound/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { createProxyChoice, NO_PROXIES, type ProxySettings } from '#platform/proxy/mod.ts';
import { INTERNAL_HEADER, signInternalCall } from '#platform/secrets/mod.ts';
import { type ExternalItem, runExternalMany } from '../external/mod.ts';
import { createJudgeCall, type Judged, judge } from '../llm/mod.ts';
import { mapSome } from './map-some.ts';

/** What a thread is told at its start. */
export type ThreadData = {
  gatewayUrl: string;
  /** The certificate that it shows; absent: what the system's authorities have signed. */
  gatewayCertFile?: string | null;
  internalSecret: string;
  outboundAllow: string[];
  /** Absent: there are none. */
  proxies?: ProxySettings;
  /** What MODELS_FILE adds to the registry's prices; absent: nothing. */
  models?: OperatorModels | null;
  judgeTimeouts: { connectMs: number; firstByteMs: number; totalMs: number };
};

export type JudgeTask = {
  call: StoredCall;
  organizationId: string;
  evaluationId: string;
  scoringType: ScoringType;
  evaluatorName: string;
  template: LlmTemplate;
  probe: Probe | null;
};
export type ExternalTask = {
  items: { evaluationId: string; call: StoredCall }[];
  evaluator: { id: string; version: number; name: string };
  config: ExternalConfig;
  secrets: Record<string, string>;
};

const data = workerData as ThreadData;
const clock = systemClock;
const catalog = createCatalog(data.models ?? null);
const proxyFor = createProxyChoice(data.proxies ?? NO_PROXIES);
const edge = createJudgeCall({
  gatewayUrl: data.gatewayUrl,
  gatewayCertFile: data.gatewayCertFile ?? null,
  internalHeaders: (organizationId, evaluationId) => ({
    [INTERNAL_HEADER]: signInternalCall(data.internalSecret, { organizationId, evaluationId }, clock.now()),
  }),
  timeouts: data.judgeTimeouts,
  clock,
  proxyFor,
});
const allowed = parseAllowList(data.outboundAllow);
if ('badEntry' in allowed) throw new Error('The configuration lets no such entry through');
const outbound = createOutbound({ allow: allowed.allow, proxyFor });

/** What Python is given of a call. */
export type Texts = Pick<Subject, 'input' | 'output'>;

/** The texts of each call, or why there is nothing to evaluate. */
export function prepare(calls: readonly StoredCall[]): (Texts | Evaluated)[] {
  return calls.map((call) => {
    const subject = readSubject(call);
    return 'skipped' in subject ? skip(subject) : { input: subject.input, output: subject.output };
  });
}

export async function judgeCall(task: JudgeTask): Promise<Evaluated | Judged> {
  const subject = readSubject(task.call);
  if ('skipped' in subject) return skip(subject);
  const call = edge.callFor(task.organizationId, task.evaluationId);
  return await judge({ ...task, subject, call, catalog });
}

export async function scoreExternally(task: ExternalTask): Promise<Evaluated[]> {
  const read = task.items.map(({ evaluationId, call }) => {
    const subject = readSubject(call);
    return 'skipped' in subject ? skip(subject) : { evaluationId, subject };
  });
  return await mapSome(read, isItem, (items) => runExternalMany({ ...task, items, outbound, clock }));
}

function isItem(read: ExternalItem | Evaluated): read is ExternalItem {
  return 'subject' in read;
}

function skip({ skipped, message }: Exclude<ReturnType<typeof readSubject>, Subject>): Evaluated {
  return { outcome: { state: 'skipped', reason: skipped, message }, use: null };
}
