import t from 'tap';
import { parseQuery } from '#core/filter/query-text/mod.ts';
import {
  bucketAddress,
  daysAddress,
  evaluatorAddress,
  ratedAddress,
  readTab,
  scoredAddress,
  sideAddress,
  sidesAddress,
  sidesQuery,
} from '../../../../../dashboard/pages/evaluator/address.ts';

const queryOf = (address: string) => new URL(address, 'http://localhost').searchParams.get('q')!;

t.test('Every number leads to the requests behind it, by a query that can be read', async (t) => {
  const name = 'Größe & Länge';
  const queries = {
    [scoredAddress(name)]: 'has:scores.größe_länge',
    [ratedAddress(name)]: 'has:scores.größe_länge has:feedback',
    [bucketAddress(name, { from: -1, to: 0.5, count: 1 }, false)]:
      'scores.größe_länge:>=-1 scores.größe_länge:<0.5',
    [bucketAddress(name, { from: 0.5, to: 1e-9, count: 1 }, true)]:
      'scores.größe_länge:>=0.5 scores.größe_länge:<=1e-9',
    [bucketAddress(name, { label: 'rude', score: -2, count: 1 }, true)]: 'scores.größe_länge:-2',
    [sideAddress(name, { threshold: 0.5, passes: false, rating: true })]:
      'scores.größe_länge:<0.5 feedback:true',
    [sideAddress(name, { threshold: 3, passes: true })]: 'scores.größe_länge:>=3',
    [daysAddress(name, '2026-02-27', '2026-02-28')]: 'has:scores.größe_länge',
  };
  for (const [address, q] of Object.entries(queries)) {
    t.equal(queryOf(address), q);
    t.doesNotThrow(() => parseQuery(q), q);
    t.match(address, /^\/requests\?/);
  }
});

t.test('Days are the range from the midnight of the first to that behind the last', async (t) => {
  t.match(
    daysAddress('a', '2026-02-28', '2026-02-28'),
    'range=2026-02-28T00:00:00.000Z..2026-03-01T00:00:00.000Z',
  );
});

t.test('The address of an evaluator names its tab, and an unknown tab is the first', async (t) => {
  t.equal(
    evaluatorAddress('a/b', { tab: 'evaluations', state: 'dead' }),
    '/evaluators/a%2Fb?tab=evaluations&state=dead',
  );
  t.equal(readTab('versions'), 'versions');
  t.equal(readTab('other'), 'statistics');
});

t.test('The sides of two evaluators are one query', async (t) => {
  const sides = [
    { name: 'Polite', threshold: 0.5, passes: true },
    { name: 'Very helpful', threshold: 3, passes: false },
  ];
  t.equal(sidesQuery(sides), 'scores.polite:>=0.5 scores.very_helpful:<3');
  t.equal(queryOf(sidesAddress(sides)), sidesQuery(sides));
});
