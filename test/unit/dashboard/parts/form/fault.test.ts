import t from 'tap';
import { findFault } from '../../../../../dashboard/parts/form/fault.ts';

const FIELDS = ['name', 'rate_limit_policy'];

t.test('a refusal belongs to the field that its sentence begins with', async (t) => {
  const message = 'name must have at most 100 characters';
  t.same(findFault({ status: 400, message }, FIELDS), { field: 'name', sentence: message });
});

t.test('a refusal belongs to the field that a phrase recognizes', async (t) => {
  const message = 'Invalid rate-limit policy: w must be at least 60';
  const found = findFault({ status: 400, message }, FIELDS, { rate_limit_policy: /rate-limit policy/ });
  t.same(found, { field: 'rate_limit_policy', sentence: message });
});

t.test('other refusals and failures belong to no field', async (t) => {
  t.equal(findFault({ status: 400, message: 'The body is not JSON' }, FIELDS), null);
  t.equal(findFault({ status: 503, message: 'name service is away' }, FIELDS), null);
});
