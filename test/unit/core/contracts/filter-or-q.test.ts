import t from 'tap';
import { filterOf } from '#core/contracts/filter-or-q.ts';

const USER = { request: { user_id: { equals: 'a' } } };

t.test('a body has its filter as JSON or as text', async (t) => {
  t.equal(filterOf({ filter: USER }), USER);
  t.strictSame(filterOf({ q: 'user:a' }), USER);
  t.equal(filterOf({ q: '' }), 'all');
  t.equal(filterOf({ filter: null }), null, 'parseFilter refuses it');
});

t.test('a body with both, or with neither where one is required, is refused', async (t) => {
  t.throws(() => filterOf({ filter: 'all', q: 'user:a' }), {
    code: 'invalid_body',
    message: 'q and filter exclude each other: send one of them',
  });
  t.throws(() => filterOf({}), { code: 'invalid_body', message: 'filter is required, or q in its place' });
  t.equal(filterOf({}, { otherwise: 'all' }), 'all');
  t.equal(filterOf({}, { otherwise: null }), null);
});

t.test('an error in an inner object names its path', async (t) => {
  const options = { otherwise: null, path: 'config.' } as const;
  t.throws(() => filterOf({ filter: 'all', q: 'user:a' }, options), {
    message: 'config.q and config.filter exclude each other: send one of them',
  });
  t.throws(() => filterOf({ q: 'status:x' }, options), {
    code: 'invalid_filter',
    message: 'config.q at offset 7, length 1 ("x"): status must be a number, but is "x"',
  });
});
