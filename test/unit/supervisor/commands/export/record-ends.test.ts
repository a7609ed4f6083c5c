import t from 'tap';
import { startProgress } from '../../../../../supervisor/commands/export/progress.ts';
import { type ExportFormat, RecordEnds } from '../../../../../supervisor/commands/export/record-ends.ts';

function endsOf(format: ExportFormat, text: string, pieceLength: number): RecordEnds {
  const bytes = Buffer.from(text);
  const ends = new RecordEnds(format);
  for (let at = 0; at < bytes.length; at += pieceLength) ends.push(bytes.subarray(at, at + pieceLength));
  return ends;
}

t.test('records of NDJSON end at line feeds, however the bytes are cut', async (t) => {
  const text = '{"a":"é"}\n{"b":1}\n{"c"';
  for (let length = 1; length <= 30; length += 1) {
    t.match(endsOf('ndjson', text, length), { count: 2, previousEnd: 11, end: 19 }, `pieces of ${length}`);
  }
  t.match(endsOf('ndjson', '', 1), { count: 0, previousEnd: 0, end: 0 });
});

t.test('records of CSV end at CR LF outside of quotes, however the bytes are cut', async (t) => {
  const text = 'id,b\r\n1,"x\r\n""y"""\r\n2,"half\r\n';
  for (let length = 1; length <= 40; length += 1) {
    t.match(endsOf('csv', text, length), { count: 2, previousEnd: 6, end: 20 }, `pieces of ${length}`);
  }
});

/** What a terminal shows of an export at these times, in milliseconds, and numbers of records. */
function shownOn(
  isTTY: boolean,
  options: { begun: number; total: number | null },
  steps: [number, number][],
) {
  const shown: string[] = [];
  let now = 0;
  const write = (text: string) => shown.push(text.replace('\r\u001b[2K', ''));
  const line = startProgress({ ...options, stream: { isTTY, write }, now: () => now });
  for (const [at, done] of steps) {
    now = at;
    line.update(done);
  }
  line.stop();
  return shown;
}

t.test('the progress names the records, their share, the rate and the time that is left', async (t) => {
  t.strictSame(shownOn(true, { begun: 10_000, total: 100_000 }, [[1_000, 30_000]]), [
    '30,000 of 100,000 records (30 %), 20,000 records/s, 4 s left',
    '',
  ]);
  t.strictSame(shownOn(true, { begun: 0, total: null }, [[500, 500]]), ['500 records, 1,000 records/s', '']);
  t.strictSame(shownOn(true, { begun: 0, total: 0 }, [[0, 0]]), ['0 of 0 records (100 %), 0 records/s', '']);
  t.strictSame(shownOn(true, { begun: 0, total: 5 }, [[0, 7]]), ['7 of 5 records (100 %), 0 records/s', '']);
});

t.test('the progress is shown on a terminal alone, and at most five times a second', async (t) => {
  const steps: [number, number][] = [
    [0, 1],
    [199, 2],
    [200, 3],
  ];
  t.strictSame(shownOn(false, { begun: 0, total: null }, steps), []);
  t.strictSame(shownOn(true, { begun: 0, total: null }, steps), [
    '1 records, 0 records/s',
    '3 records, 15 records/s',
    '',
  ]);
});
