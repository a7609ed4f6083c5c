import t from 'tap';
import { readPages, stretchOf } from '../../../../../dashboard/pages/sessions/stretch.ts';

t.test('Each page adds fifty sessions', async (t) => {
  t.same(stretchOf(1), { offset: 0, limit: 50 });
  t.same(stretchOf(3), { offset: 0, limit: 150 });
});

t.test('Of very many pages the last ones are shown, as many as the API lists', async (t) => {
  t.same(stretchOf(19), { offset: 0, limit: 950 });
  t.same(stretchOf(30), { offset: 550, limit: 950 });
});

t.test('An address that asks for no number of pages gets one', async (t) => {
  t.same([undefined, '', '0', '-1', '1.5', 'x', '1e99', '4'].map(readPages), [1, 1, 1, 1, 1, 1, 1, 4]);
});
