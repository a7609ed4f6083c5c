import t from 'tap';
import { listText, momentText, readList, readMoment } from '../../../../../dashboard/parts/form/lists.ts';

t.test('a list is read from lines and commas, without what is empty', async (t) => {
  t.same(readList(' gpt-4o* \n\nanthropic/*, openai,'), ['gpt-4o*', 'anthropic/*', 'openai']);
  t.equal(readList(' \n ,'), null);
});

t.test('a list that is shown is read back as it was', async (t) => {
  t.same(readList(listText(['a', 'b c'])), ['a', 'b c']);
  t.equal(readList(listText(null)), null);
});

t.test('a moment that is shown is read back to the minute, in any time zone', async (t) => {
  const before = process.env.TZ;
  for (const zone of ['UTC', 'America/New_York', 'Asia/Kathmandu']) {
    process.env.TZ = zone;
    t.equal(readMoment(momentText('2027-01-31T12:34:56.789Z')), '2027-01-31T12:34:00.000Z', zone);
  }
  if (before === undefined) delete process.env.TZ;
  else process.env.TZ = before;
  t.equal(momentText(null), '');
  t.equal(readMoment(''), null);
});
