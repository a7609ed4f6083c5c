/** What a run found: figures, and whatever is not as it should be. */
import { formatTable } from '../../bench/table.ts';
import type { FaultNote } from './carry-out.ts';
import type { Drained } from './drain.ts';
import { FAULT_KINDS, type FaultKind } from './faults.ts';
import type { CallEnd, CallNote } from './ledger.ts';
import type { Service } from './service.ts';
import type { Verdict } from './verdict.ts';

export type Findings = {
  options: { minutes: number; seed: number; connections: number; perSecond: number };
  loadMs: number;
  calls: Record<CallEnd, number>;
  faults: readonly FaultNote[];
  /** How each gateway's disk was filled. */
  disks: string[];
  /** Calls that were not stored when the load ended, those that never will be among them. */
  backlog: number;
  drain: Drained;
  /** Outboxes that processes which stopped in order have left. */
  leftOutboxes: string[];
  services: readonly Pick<Service, 'name' | 'highestBytes' | 'deaths' | 'uncleanStops' | 'life'>[];
  /** Their reasons. */
  deadLetters: string[];
  /** Of large entries, left over. */
  parts: number;
  /** What the change feed brought otherwise than once. */
  feedProblems: string[];
  /** Where roll-ups do not equal their rows. */
  rollupProblems: string[];
  verdict: Verdict;
};

export type Report = {
  seed: number;
  minutes: number;
  connections: number;
  calls: Record<CallEnd, number>;
  answeredPerSecond: number;
  /** Faults that were done, by kind; then by target. */
  faults: Record<FaultKind, number>;
  faultsByTarget: Record<string, number>;
  /** Processes that were ended: killed, terminated, emptied or crashed. */
  kills: number;
  /** Faults of the plan whose target was down. */
  skippedFaults: number;
  disks: string[];
  records: number;
  missing: number;
  vanished: number;
  duplicates: number;
  changed: number;
  notLogged: Verdict['notLogged'];
  excused: number;
  deadLetters: number;
  parts: number;
  backlog: number;
  drainSeconds: number | null;
  /** Messages that are stored, and that nats-server keeps. */
  forgottenMessages: number;
  /** The most memory that any gateway held, in MiB. */
  gatewayMemoryMib: number;
  uncleanStops: string[];
  /** What must not be, in sentences; empty when all is well. */
  failures: string[];
  /** Where the run's files are; null when they are gone. */
  directory: string | null;
};

const ENDING: readonly FaultKind[] = ['kill', 'terminate', 'empty', 'crash'];
const MIB = 1024 ** 2;
/** A fault is still felt for so long. */
const AFTERMATH_MS = 1_000;
/** Problems that are told in full. */
const TOLD = 20;

function countBy<K extends string>(keys: readonly K[]): Record<K, number> {
  const counts = {} as Record<K, number>;
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}

/** Puts a report together. */
export function makeReport(findings: Findings): Omit<Report, 'directory'> {
  const { options, calls, loadMs, backlog, drain, verdict, services } = findings;
  const { tookMs } = drain;
  const done = findings.faults.filter(({ isDone }) => isDone);
  const problems = countBy(verdict.problems.map(({ kind }) => kind));
  const gateways = services.filter(({ name }) => name.startsWith('gateway'));
  return {
    seed: options.seed,
    minutes: options.minutes,
    connections: options.connections,
    calls,
    answeredPerSecond: Math.round((calls.answered * 1_000) / loadMs),
    faults: { ...noFaults(), ...countBy(done.map(({ kind }) => kind)) },
    faultsByTarget: countBy(done.map(({ target }) => target)),
    kills: done.filter(({ kind }) => ENDING.includes(kind)).length,
    skippedFaults: findings.faults.length - done.length,
    disks: findings.disks,
    records: verdict.records,
    missing: problems.missing ?? 0,
    vanished: problems.vanished ?? 0,
    duplicates: problems.duplicate ?? 0,
    changed: problems.changed ?? 0,
    notLogged: verdict.notLogged,
    excused: verdict.excused,
    deadLetters: findings.deadLetters.length,
    parts: findings.parts,
    backlog,
    drainSeconds: tookMs === null ? null : tookMs / 1_000,
    forgottenMessages: drain.forgottenMessages,
    gatewayMemoryMib: Math.round(Math.max(...gateways.map(({ highestBytes }) => highestBytes)) / MIB),
    uncleanStops: services.flatMap(({ uncleanStops }) => uncleanStops),
    failures: failuresOf(findings),
  };
}

function noFaults(): Record<FaultKind, number> {
  return Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0])) as Record<FaultKind, number>;
}

function failuresOf({
  verdict,
  deadLetters,
  services,
  drain,
  leftOutboxes,
  feedProblems,
  rollupProblems,
  faults,
}: Findings): string[] {
  const failures = verdict.problems.slice(0, TOLD).map(({ kind, detail, notes }) => {
    const known = notes.slice(0, TOLD).map((note) => describe(note, faults));
    return [`${kind}: ${detail}`, ...known].join('\n    ');
  });
  if (verdict.problems.length > TOLD) failures.push(`… and ${verdict.problems.length - TOLD} more`);
  failures.push(...feedProblems.slice(0, TOLD), ...rollupProblems.slice(0, TOLD));
  for (const reason of deadLetters.slice(0, TOLD)) failures.push(`dead letter: ${reason}`);
  for (const death of services.flatMap(({ deaths }) => deaths)) failures.push(`died of itself: ${death}`);
  if (drain.tookMs === null) failures.push(`not over in time: ${drain.waiting.join(', ')}`);
  if (leftOutboxes.length > 0) {
    failures.push(`outboxes left by processes that stopped in order: ${leftOutboxes.join(', ')}`);
  }
  return failures;
}

/** What is known of a call, and what was wrong about then. */
function describe(note: CallNote, faults: readonly FaultNote[]): string {
  const { call, server, life, isStream, startedMs, endedMs, end, status, requestId, why } = note;
  const meanwhile = faults
    .filter(
      ({ isDone, beganMs, endedMs: overMs }) =>
        isDone && beganMs <= endedMs + AFTERMATH_MS && overMs >= startedMs - AFTERMATH_MS,
    )
    .map(({ kind, target }) => `${kind} ${target}`);
  return [
    `call ${call}`,
    requestId ?? 'no id',
    `${server}, life ${life}`,
    isStream ? 'stream' : 'plain',
    `${Math.round(startedMs)}–${Math.round(endedMs)} ms`,
    `${end} ${status ?? ''}`.trim(),
    ...(why === null ? [] : [why]),
    meanwhile.length === 0 ? 'no fault about then' : `about ${meanwhile.join(', ')}`,
  ].join(' · ');
}

/** For a person. */
export function formatReport(report: Report): string {
  const count = (value: number) => value.toLocaleString('en');
  const rows = [
    ['answered in full', count(report.calls.answered)],
    ['cut off by faults', count(report.calls.lost)],
    ['left by their client', count(report.calls.left)],
    ['refused by a gateway', count(report.calls.refused)],
    ['records', count(report.records)],
    ['missing', count(report.missing)],
    ['duplicates', count(report.duplicates)],
    ['not as answered', count(report.changed)],
    ['begun and vanished', count(report.vanished)],
    ['missing, the disk being full', count(report.notLogged.missing)],
    ['counted as not logged', count(report.notLogged.counted)],
    ['dead letters', count(report.deadLetters)],
    ['parts left over', count(report.parts)],
    ['processes ended', count(report.kills)],
  ];
  const faults = Object.entries(report.faults).map(([kind, times]) => `${kind} ${times}`);
  const targets = Object.entries(report.faultsByTarget).map(([target, times]) => `${target} ${times}`);
  const lines = [
    formatTable([['', 'calls'], ...rows]),
    '',
    `Faults: ${faults.join(', ')}; ${report.skippedFaults} of the plan found their target down`,
    `Targets: ${targets.join(', ')}`,
    `Full disks: ${report.disks.join('; ')}`,
    `${report.answeredPerSecond} answers a second over ${report.minutes} min at ${report.connections} connections`,
    report.drainSeconds === null
      ? `Not stored at the end of the load: ${count(report.backlog)}`
      : `Not stored at the end of the load: ${count(report.backlog)}; nothing was on its way ${report.drainSeconds.toFixed(1)} s later`,
    `Messages that nats-server keeps though they are stored: ${report.forgottenMessages}`,
    `A gateway held ${report.gatewayMemoryMib} MiB at most`,
    ...report.uncleanStops.map((stop) => `Did not stop in order: ${stop}`),
    '',
    ...report.failures,
    `${report.failures.length === 0 ? 'Nothing lost, nothing twice' : 'FAILED'} (seed ${report.seed})`,
    ...(report.directory === null ? [] : [`Logs, ledgers and data: ${report.directory}`]),
  ];
  return `${lines.join('\n')}\n`;
}
