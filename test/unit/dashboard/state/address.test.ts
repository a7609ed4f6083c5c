import fc from 'fast-check';
import t from 'tap';
import { href } from '../../../../dashboard/state/address.ts';

const texts = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });

t.test('what is put into an address is read from it again', async () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        texts.map((text) => text.toWellFormed()),
        texts,
      ),
      (query) => {
        const { searchParams, pathname } = new URL(href('/requests', query), 'http://localhost');
        return (
          pathname === '/requests' &&
          Object.entries(query).every(([name, value]) => searchParams.get(name) === value.toWellFormed())
        );
      },
    ),
    { numRuns: 2_000 },
  );
});

t.test('an address reads well, and leaves out what is empty', async (t) => {
  t.equal(
    href('/requests', { q: 'status:>=500 user:a,b/c', sort: null, r: '' }),
    '/requests?q=status:%3E%3D500+user:a,b/c',
  );
  t.equal(href('/requests'), '/requests');
});
