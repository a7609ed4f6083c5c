/**
 * Compares what clients and provider saw with what is stored. Pure. What must hold:
 * - who has a whole answer has one record, the same by status, id, question and answer;
 * - whatever the provider was asked has one record, however it ended;
 * - nothing has two;
 * - while a disk was full, just as many have none as the gateway counted, and plain answers said so.
 */
import type { CallNote } from './ledger.ts';

export type StoredRecord = {
  /** Null when it names none. */
  call: number | null;
  requestId: string;
  status: number;
  requestDigest: string;
  /** Of the text that was answered; null when there is none. */
  answerDigest: string | null;
};

/** A gateway's disk was full: from when on, and what the gateway said later, since its start. */
export type Fill = {
  server: string;
  life: number;
  fromMs: number;
  /** When there was room again. */
  untilMs: number;
  countedMs: number;
  notLogged: number;
};

export type RunFacts = {
  notes: Iterable<CallNote>;
  records: Iterable<StoredRecord>;
  /** The calls that reached the provider, one entry each time. */
  reached: Iterable<number>;
  fills: readonly Fill[];
  /** What a question has as its digest in a record that does not hold it. */
  emptyDigest: string;
};

export type ProblemKind =
  /** Answered, and no record. */
  | 'missing'
  /** Not answered in full, though the provider was asked, and no record. */
  | 'vanished'
  | 'duplicate'
  /** The record is not what the client saw, or that is not what the provider said. */
  | 'changed'
  /** A record of a call that nobody made. */
  | 'stranger'
  /** The provider was asked twice. */
  | 'repeated'
  /** What a gateway counted as not logged is not what is missing. */
  | 'miscounted';

export type Problem = { kind: ProblemKind; detail: string; notes: CallNote[] };

export type Verdict = {
  problems: Problem[];
  /** Records that were compared. */
  records: number;
  /** Calls without a record while a disk was full, and what the gateways counted. */
  notLogged: { missing: number; counted: number };
  /** Calls that were not kept at their beginning, the disk being full, and cut off later with their gateway. */
  excused: number;
};

/** The lives of gateways whose disk was full at some time; several times in one life are one. */
type FilledLife = { windows: Fill[]; last: Fill; unrecorded: CallNote[] };

function livesOf(fills: readonly Fill[]): Map<string, FilledLife> {
  const lives = new Map<string, FilledLife>();
  for (const [life, windows] of Map.groupBy(fills, lifeOf)) {
    const last = windows.toSorted((a, b) => a.countedMs - b.countedMs).at(-1)!;
    lives.set(life, { windows, last, unrecorded: [] });
  }
  return lives;
}

function lifeOf({ server, life }: { server: string; life: number }): string {
  return `${server}/${life}`;
}

/** What is wrong with the only record of a call; null when nothing is. */
function difference(note: CallNote, record: StoredRecord, emptyDigest: string): string | null {
  if (note.requestId !== null && note.requestId !== record.requestId) {
    return `the record has the id ${record.requestId}`;
  }
  // An interrupted call is stored without a question that was long.
  const isQuestionLeftOut = record.status === 0 && record.requestDigest === emptyDigest;
  if (note.requestDigest !== record.requestDigest && !isQuestionLeftOut) return 'the question is another';
  if (note.end !== 'answered') return null;
  if (note.why !== null) return note.why;
  if (!note.isLogged) return 'the answer said that it was not logged';
  if (note.status !== record.status) return `the record has the status ${record.status}`;
  return note.answerDigest === record.answerDigest ? null : 'the answer is another';
}

/** What is wrong with a call that has no record. */
function lackOf(note: CallNote, isReached: boolean, life: FilledLife | undefined): ProblemKind | null {
  const isAnswered = note.end === 'answered';
  if (!isAnswered && !isReached) return null;
  if (life !== undefined && note.endedMs <= life.last.countedMs) {
    life.unrecorded.push(note);
    // A plain answer says it when it is not logged; of a stream the headers are gone by then.
    return isAnswered && note.isLogged && !note.isStream ? 'missing' : null;
  }
  return isAnswered ? 'missing' : 'vanished';
}

/** A gateway measures its outboxes once a second, and refuses STARTs until it has seen that there is room again. */
const ROOM_SEEN_WITHIN_MS = 1_500;

/** Whether a call that was cut off had begun when the disk took nothing. */
function hadNoRoom(note: CallNote, life: FilledLife | undefined): boolean {
  return (
    life?.windows.some(
      ({ fromMs, untilMs }) => note.startedMs >= fromMs && note.startedMs <= untilMs + ROOM_SEEN_WITHIN_MS,
    ) ?? false
  );
}

export function judge(facts: RunFacts): Verdict {
  const problems: Problem[] = [];
  const report = (kind: ProblemKind, detail: string, ...notes: CallNote[]) =>
    problems.push({ kind, detail, notes });
  const lives = livesOf(facts.fills);
  const records = [...facts.records];
  const recordsOf = Map.groupBy(records, ({ call }) => call);
  const asked = new Map<number, number>();
  for (const call of facts.reached) asked.set(call, (asked.get(call) ?? 0) + 1);
  const made = new Set<number | null>();
  let excused = 0;

  for (const note of facts.notes) {
    made.add(note.call);
    const [record, ...more] = recordsOf.get(note.call) ?? [];
    const times = asked.get(note.call) ?? 0;
    if (times > 1) report('repeated', `the provider was asked ${times} times`, note);
    if (more.length > 0) report('duplicate', `${more.length + 1} records`, note);
    if (record !== undefined) {
      const what = difference(note, record, facts.emptyDigest);
      if (what !== null) report('changed', what, note);
      continue;
    }
    const life = lives.get(lifeOf(note));
    const lack = lackOf(note, times > 0, life);
    if (lack === 'vanished' && hadNoRoom(note, life)) excused += 1;
    else if (lack !== null) report(lack, note.isLogged ? 'no record' : 'no record, as the answer said', note);
  }

  for (const [call, strangers] of recordsOf) {
    if (!made.has(call)) report('stranger', `the record ${strangers[0]!.requestId} is of no call`);
  }
  const notLogged = { missing: 0, counted: 0 };
  for (const [life, { last, unrecorded }] of lives) {
    notLogged.missing += unrecorded.length;
    notLogged.counted += last.notLogged;
    if (unrecorded.length === last.notLogged) continue;
    report(
      'miscounted',
      `${life} counted ${last.notLogged} as not logged, and ${unrecorded.length} are missing`,
      ...unrecorded,
    );
  }
  return { problems, records: records.length, notLogged, excused };
}
