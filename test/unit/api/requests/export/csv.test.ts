import t from 'tap';
import { csvCell, csvLine } from '../../../../../api/requests/export/csv.ts';

const cell = (value: unknown) => csvCell(JSON.stringify(value));

t.test('a plain text is a cell as it is', async (t) => {
  t.equal(cell('gpt-4o-mini'), 'gpt-4o-mini');
  t.equal(cell(''), '');
  t.equal(cell('héllo 😀 '), 'héllo 😀 ');
});

t.test('a cell with a comma, a quote or a line break is quoted, and quotes in it are doubled', async (t) => {
  t.equal(cell('a,b'), '"a,b"');
  t.equal(cell('say "hi"'), '"say ""hi"""');
  t.equal(cell('two\nlines'), '"two\nlines"');
  t.equal(cell('two\r\nlines'), '"two\r\nlines"');
});

t.test('a text that a spreadsheet would run as a formula gets a leading apostrophe', async (t) => {
  t.equal(cell('=1+1'), "'=1+1");
  t.equal(cell('+1'), "'+1");
  t.equal(cell('-1'), "'-1");
  t.equal(cell('@sum'), "'@sum");
  t.equal(cell('\t=1'), '"\'\t\'=1"');
  t.equal(cell('\r=1'), '"\'\r\'=1"');
  t.equal(cell('\n=1'), '"\'\n\'=1"');
  for (const sign of '＝＋－＠') t.equal(cell(`${sign}1`), `'${sign}1`);
  t.equal(cell('=HYPERLINK("http://evil","x")'), '"\'=HYPERLINK(""http://evil"",""x"")"');
  t.equal(cell('1-1'), '1-1', 'only at its beginning');
});

t.test(
  'no formula begins where a spreadsheet that separates by semicolons or tabs splits a text',
  async (t) => {
    t.equal(cell('x;=1+1'), '"x;\'=1+1"');
    t.equal(cell('x\t@sum'), '"x\t\'@sum"');
    t.equal(cell('x\n-1\r\n＝1'), '"x\n\'-1\r\n\'＝1"');
    t.equal(cell('x;"=1"'), '"x;\'""=1"""', 'a quoted cell of its own');
    t.equal(cell('a;b'), '"a;b"', 'nothing else changes');
    const value = { note: 'x;=1', other: ';＝1 \\;-2' };
    const written = cell(value);
    t.equal(written, '"{""note"":""x;\\u003d1"",""other"":"";\\uff1d1 \\\\;\\u002d2""}"');
    t.strictSame(JSON.parse(written.slice(1, -1).replaceAll('""', '"')), value, 'JSON keeps its value');
  },
);

t.test('numbers and booleans are written as they are, negative numbers too', async (t) => {
  t.equal(cell(-1.5), '-1.5');
  t.equal(cell(0), '0');
  t.equal(cell(1e-7), '1e-7');
  t.equal(cell(true), 'true');
});

t.test('null is an empty cell, and an object its JSON', async (t) => {
  t.equal(cell(null), '');
  t.equal(cell({}), '{}');
  t.equal(cell({ plan: 'pro', note: '=1' }), '"{""plan"":""pro"",""note"":""=1""}"');
});

t.test('a line ends with CR LF', async (t) => {
  t.equal(csvLine(['a', '"b,c"', '']), 'a,"b,c",\r\n');
});
