import t from 'tap';
import { idsBetween } from '../../../../../dashboard/pages/requests/selection.ts';
import {
  append,
  beginWindow,
  neighbour,
  prepend,
  type RowWindow,
  renew,
} from '../../../../../dashboard/pages/requests/window.ts';

const START = { id: null, offset: 0 };
const page = (ids: string, next: string | null = null, prev: string | null = null) => ({
  rows: [...ids].map((request_id) => ({ request_id })),
  next,
  prev,
});
const idsOf = ({ rows }: RowWindow) => rows.map(({ request_id: id }) => id).join('');
const begin = (ids: string, next: string | null = null, prev: string | null = null) =>
  beginWindow('k', page(ids, next, prev), START);

t.test('pages are added at both ends, and a row that is there already is not there twice', async (t) => {
  const middle = begin('def', 'n', 'p');
  const longer = append(middle, page('fgh', null));
  t.equal(idsOf(longer), 'defgh');
  t.match(longer, { next: null, prev: 'p', shift: 0 });
  const whole = prepend(longer, page('abcd'));
  t.equal(idsOf(whole), 'abcdefgh');
  t.match(whole, { next: null, prev: null, shift: 3 });
});

t.test('the newest page is taken in at the beginning, and what was loaded behind it stays', async (t) => {
  const loaded = append(begin('def', 'n'), page('ghi', 'm'));
  const renewed = renew(loaded, page('bcde', 'other'));
  t.equal(idsOf(renewed), 'bcdefghi');
  t.match(renewed, { next: 'm', news: 2, shift: 0 });
  t.equal(renewed.start, loaded.start, 'it is no new beginning');
  t.equal(idsOf(renew(loaded, page('deg'))), 'deghi', 'a row that was erased goes');
});

t.test('after more than a page of newer rows the list begins with them', async (t) => {
  const renewed = renew(append(begin('def', 'n'), page('ghi')), page('xyz', 'q'));
  t.equal(idsOf(renewed), 'xyz');
  t.match(renewed, { next: 'q' });
  t.equal(idsOf(renew(begin(''), page('ab'))), 'ab');
});

t.test('the row beside one is found, and at an end the last one there', async (t) => {
  const { rows } = begin('abc');
  const beside = (id: string | null, step: number) => neighbour(rows, id, step)?.request_id;
  t.equal(beside('b', 1), 'c');
  t.equal(beside('c', 1), 'c');
  t.equal(beside('a', -1), 'a');
  t.equal(beside(null, 1), 'a');
  t.equal(beside('gone', -1), 'c');
  t.equal(neighbour([], 'a', 1), null);
});

t.test(
  'the rows between two are selected in either direction; of one that is gone, the other alone',
  async (t) => {
    const { rows } = begin('abcd');
    t.same(idsBetween(rows, 'b', 'd'), ['b', 'c', 'd']);
    t.same(idsBetween(rows, 'd', 'b'), ['b', 'c', 'd']);
    t.same(idsBetween(rows, 'gone', 'b'), ['b']);
  },
);
