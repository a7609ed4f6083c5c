import t from 'tap';
import { parseQuery } from '#core/filter/query-text/mod.ts';
import { hasTerm, withTerm } from '../../../../../dashboard/parts/query-bar/edit.ts';
import { negatedTerm, readTerms, withoutTerm } from '../../../../../dashboard/parts/query-bar/terms.ts';

const texts = (q: string) => readTerms(q)?.map(({ text }) => text);

t.test('a query is divided into the terms that must all hold', async (t) => {
  t.strictSame(texts('status:>=500 AND -user:(a OR b)  (x OR y) has:feedback NOT "a b"'), [
    'status:>=500',
    '-user:(a OR b)',
    '(x OR y)',
    'has:feedback',
    'NOT "a b"',
  ]);
  t.strictSame(texts('a b OR c'), ['a b OR c'], 'joined by OR, it is one');
  t.strictSame(texts(''), []);
  t.equal(readTerms('status:abc'), null);
});

t.test('a term is removed with the AND beside it', async (t) => {
  const q = 'a AND b AND c';
  const terms = readTerms(q)!;
  t.strictSame(
    [0, 1, 2, 3].map((index) => withoutTerm(q, terms, index)),
    ['b AND c', 'a AND c', 'a AND b', q],
  );
});

t.test('a term is turned around, and back', async (t) => {
  for (const q of ['user:a', '-user:a', 'NOT user:a', 'a OR b', '(a OR b)', '-(a b)']) {
    const [term] = readTerms(q)!;
    const turned = negatedTerm(term!);
    t.strictSame(parseQuery(turned), parseQuery(`-(${q})`), q);
    t.strictSame(parseQuery(negatedTerm(readTerms(turned)![0]!)), parseQuery(q), turned);
  }
});

t.test('a term takes the place of all that are about its field alone', async (t) => {
  const text = 'status:200..300';
  t.equal(withTerm('status:500 user:a -status:404', 'status', text), `user:a ${text}`);
  t.equal(withTerm('(status:500 OR user:a)', 'status', text), `(status:500 OR user:a) ${text}`);
  t.equal(withTerm('status:500 OR user:a', 'status', text), `(status:500 OR user:a) ${text}`);
  t.equal(withTerm(`user:a ${text}`, 'status', null), 'user:a');
  t.equal(withTerm('', 'status', text), text);
  t.ok(hasTerm(`user:a AND ${text}`, text));
  t.notOk(hasTerm(`-${text}`, text));
});
