import t from 'tap';
import {
  readMargin,
  readWanted,
  withBaseline,
} from '../../../../../dashboard/pages/experiment-comparison/address.ts';

t.test('an address names the baseline, up to three others, the margin and the cluster', async (t) => {
  t.same(readWanted({ baseline: 'a', candidates: 'b,a,c,b,d,e', margin: '0.02', cluster: 'user' }), {
    baseline: 'a',
    candidates: ['b', 'c', 'd'],
    margin: 0.02,
    cluster: 'user',
  });
  t.same(readWanted({ cluster: 'toString' }), {
    baseline: '',
    candidates: [],
    margin: null,
    cluster: 'cluster',
  });
});

t.test('a margin that is no number from 0 to a million is none', async (t) => {
  t.same(['', ' ', 'x', '-1', '1e7', undefined].map(readMargin), [null, null, null, null, null, null]);
  t.same(['0', '0.5'].map(readMargin), [0, 0.5]);
});

t.test('a candidate that becomes the baseline changes places with it', async (t) => {
  const wanted = readWanted({ baseline: 'a', candidates: 'b,c' });
  t.same(withBaseline(wanted, 'c'), ['c', 'a', 'b']);
  t.same(withBaseline(wanted, 'z'), ['z', 'b', 'c'], 'another one takes its place');
});
