import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { AssayError, ERROR_CODES, type ErrorCode, httpStatusOf } from '#core/contracts/errors.ts';

const document = readFileSync(join(import.meta.dirname, '../../../../docs/api/errors.md'), 'utf8');
const documented = new Map(
  [...document.matchAll(/^\| (\w+) \| (\d{3}) \|/gm)].map(([, code, status]) => [code!, Number(status)]),
);

t.test('docs/api/errors.md has the codes of the table, with their statuses, and no others', async (t) => {
  t.same(
    Object.fromEntries(documented),
    Object.fromEntries(Object.entries(ERROR_CODES).map(([code, { status }]) => [code, status])),
  );
});

t.test('an error carries the status of its code', async (t) => {
  for (const [code, status] of documented)
    t.equal(httpStatusOf(new AssayError(code as ErrorCode, 'x')), status);
});
