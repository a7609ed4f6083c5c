import t from 'tap';
import { fieldOfFacet } from '../../../../../dashboard/parts/facets/fields.ts';
import { facetRows } from '../../../../../dashboard/parts/facets/values.ts';

t.test('a facet has its counted values, each with what the query says of it', async (t) => {
  const counted = [
    { value: 'anna', count: 3 },
    { value: null, count: 2 },
    { value: 'bob', count: 1 },
  ];
  const conditions = [
    { value: 'anna', exclude: false },
    { value: null, exclude: true },
  ];
  t.strictSame(facetRows(counted, conditions), [
    { value: 'anna', count: 3, state: 'included' },
    { value: null, count: 2, state: 'excluded' },
    { value: 'bob', count: 1, state: 'free' },
  ]);
});

t.test('a value of the query that was not counted stays, with none', async (t) => {
  const twice = { value: 500, exclude: false };
  t.strictSame(facetRows([], [twice, twice]), [{ value: 500, count: 0, state: 'included' }]);
});

t.test('facets and the query have their own names for a field', async (t) => {
  t.equal(fieldOfFacet('prompt_id'), 'prompt');
  t.equal(fieldOfFacet('property:a:b'), 'property.a:b');
});
