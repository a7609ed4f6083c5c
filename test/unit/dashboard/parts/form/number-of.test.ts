import t from 'tap';
import { numberOf } from '../../../../../dashboard/parts/form/number-of.ts';

t.test('an empty field is no number, and another text is one that the API refuses', async (t) => {
  t.equal(numberOf(' '), undefined);
  t.equal(numberOf(' 2.5 '), 2.5);
  t.ok(Number.isNaN(numberOf('two')));
});
