import t from 'tap';
import { idsBetween } from '../../../../../dashboard/pages/requests/selection.ts';
import {
  append,
  beginWindow,
  MOST_KEPT,
  neighbour,
  prepend,
  type RowWindow,
  renew as renewAt,
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

const renew = (window: RowWindow, newest: ReturnType<typeof page>, isAtTop = false) =>
  renewAt(window, newest, { isAtTop });

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

t.test('a request that is stored late, among older ones, costs no row behind the newest page', async (t) => {
  const loaded = append(begin('cdef', 'n'), page('ghi', 'm'));
  const renewed = renew(loaded, page('bcdX', 'other'));
  t.equal(idsOf(renewed), 'bcdXefghi');
  t.match(renewed, { next: 'm', news: 1 });
  const whole = renew(begin('cd', 'n'), page('bcdX', 'other'));
  t.equal(idsOf(whole), 'bcdX');
  t.equal(whole.next, 'other', 'nothing is loaded behind the page');
});

t.test(
  'a live list that has become long begins anew when it is shown from its top, and only then',
  async (t) => {
    const rows = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ request_id: `r${index}` }));
    const newest = { rows: rows(100), next: 'after the page', prev: null };
    const of = (count: number) => beginWindow('k', { rows: rows(count), next: 'end', prev: null }, START);
    const renewed = renew(of(MOST_KEPT + 1), newest, true);
    t.match(renewed, { next: 'after the page', start: START });
    t.equal(renewed.rows.length, 100);
    t.equal(renew(of(MOST_KEPT), newest, true).rows.length, MOST_KEPT);
    t.equal(renew(of(MOST_KEPT + 1), newest, false).rows.length, MOST_KEPT + 1, 'rows on the screen stay');
  },
);

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
