import t from 'tap';
import type { CallNote } from './ledger.ts';
import { type Fill, judge, type RunFacts, type StoredRecord } from './verdict.ts';

function note(more: Partial<CallNote> = {}): CallNote {
  return {
    call: 1,
    server: 'gateway-1',
    life: 1,
    isStream: false,
    startedMs: 1_000,
    endedMs: 1_100,
    end: 'answered',
    status: 200,
    requestId: 'id-1',
    isLogged: true,
    requestDigest: 'question',
    answerDigest: 'answer',
    why: null,
    ...more,
  };
}

function record(more: Partial<StoredRecord> = {}): StoredRecord {
  return {
    call: 1,
    requestId: 'id-1',
    status: 200,
    requestDigest: 'question',
    answerDigest: 'answer',
    ...more,
  };
}

const FILL: Fill = {
  server: 'gateway-1',
  life: 1,
  fromMs: 500,
  untilMs: 2_000,
  countedMs: 3_000,
  notLogged: 1,
};

function judged(facts: Partial<RunFacts>) {
  const verdict = judge({
    notes: [note()],
    records: [record()],
    reached: [1],
    fills: [],
    emptyDigest: 'nothing',
    ...facts,
  });
  return { ...verdict, kinds: verdict.problems.map(({ kind }) => kind) };
}

t.test('an answered call with its one record is no problem', async (t) => {
  t.same(judged({}), {
    problems: [],
    kinds: [],
    records: 1,
    notLogged: { missing: 0, counted: 0 },
    excused: 0,
  });
});

t.test('an answered call without a record is reported as missing', async (t) => {
  t.same(judged({ records: [] }).kinds, ['missing']);
  t.same(
    judged({ records: [], notes: [note({ isLogged: false })] }).kinds,
    ['missing'],
    'also when it says so',
  );
});

t.test('two records of one call are reported as a duplicate, whatever their ids', async (t) => {
  t.same(judged({ records: [record(), record()] }).kinds, ['duplicate']);
  t.same(judged({ records: [record(), record({ requestId: 'id-2' })] }).kinds, ['duplicate']);
});

t.test('a record that differs from what the client saw is reported', async (t) => {
  for (const more of [{ status: 0 }, { requestId: 'id-2' }, { requestDigest: 'x' }, { answerDigest: null }]) {
    t.same(judged({ records: [record(more)] }).kinds, ['changed'], JSON.stringify(more));
  }
});

t.test('a client that got the answer to another call is reported', async (t) => {
  t.same(judged({ notes: [note({ why: 'the answer is not the one to this call' })] }).kinds, ['changed']);
});

t.test('a record of a call that no client made is reported', async (t) => {
  t.same(judged({ records: [record(), record({ call: 2 })] }).kinds, ['stranger']);
  t.same(judged({ records: [record(), record({ call: null })] }).kinds, ['stranger']);
});

t.test('a call that was cut off has a record once the provider was asked', async (t) => {
  const lost = note({ end: 'lost', status: null, requestId: null, answerDigest: null });
  t.same(judged({ notes: [lost], records: [] }).kinds, ['vanished']);
  t.same(judged({ notes: [lost], records: [], reached: [] }).kinds, [], 'none, when it was not');
  const interrupted = record({ status: 0, answerDigest: null });
  t.same(judged({ notes: [lost], records: [interrupted] }).kinds, []);
  const withoutQuestion = record({ status: 0, requestDigest: 'nothing', answerDigest: null });
  t.same(judged({ notes: [lost], records: [withoutQuestion] }).kinds, []);
  t.same(judged({ notes: [lost], records: [interrupted, interrupted] }).kinds, ['duplicate']);
});

t.test('a call whose provider was called twice is reported', async (t) => {
  t.same(judged({ reached: [1, 1] }).kinds, ['repeated']);
});

t.test('during a full disk as many records may be missing as were counted', async (t) => {
  const unlogged = note({ isLogged: false });
  const full = judged({ notes: [unlogged], records: [], fills: [FILL] });
  t.same(full.kinds, []);
  t.same(full.notLogged, { missing: 1, counted: 1 });
  t.same(judged({ notes: [unlogged], records: [], fills: [{ ...FILL, notLogged: 2 }] }).kinds, [
    'miscounted',
  ]);
  t.same(judged({ fills: [FILL] }).kinds, ['miscounted'], 'what is counted and there is no less wrong');
});

t.test('an unlogged plain response must report that it was not logged, a stream need not', async (t) => {
  t.same(judged({ notes: [note({ isStream: true })], records: [], fills: [FILL] }).kinds, []);
  t.same(judged({ records: [], fills: [FILL] }).kinds, ['missing']);
});

t.test('a call reported as not logged must have no record', async (t) => {
  t.same(judged({ notes: [note({ isLogged: false })] }).kinds, ['changed']);
});

t.test('a full disk excuses no missing record of another gateway process, or after the count', async (t) => {
  const unlogged = { isLogged: false, isStream: true };
  const fills = [{ ...FILL, notLogged: 0 }];
  t.same(judged({ notes: [note({ ...unlogged, life: 2 })], records: [], fills }).kinds, ['missing']);
  t.same(judged({ notes: [note({ ...unlogged, endedMs: 4_000 })], records: [], fills }).kinds, ['missing']);
});

t.test('a call that began while the disk was full and was cut off after the count is excused', async (t) => {
  const fills = [{ ...FILL, notLogged: 0 }];
  const late = { end: 'lost', endedMs: 9_000 } as const;
  t.equal(judged({ notes: [note(late)], records: [], fills }).excused, 1);
  t.same(
    judged({ notes: [note({ ...late, startedMs: 3_500 })], records: [], fills }).excused,
    1,
    'seen a moment later',
  );
  t.same(judged({ notes: [note({ ...late, startedMs: 3_501 })], records: [], fills }).kinds, ['vanished']);
});

t.test('several full disks in one gateway process are counted once, by the last count', async (t) => {
  const notes = [note({ isLogged: false }), note({ call: 2, endedMs: 6_000, isLogged: false })];
  const later = { ...FILL, fromMs: 5_000, untilMs: 7_000, countedMs: 8_000, notLogged: 2 };
  t.same(judged({ notes, records: [], reached: [1, 2], fills: [FILL, later] }).kinds, []);
});
