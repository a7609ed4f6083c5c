import t from 'tap';
import { isRequestId, newRequestId, ulidTimeMs } from '#platform/process/ids.ts';

t.test('a new id is a ULID of its time', async (t) => {
  const id = newRequestId(1_700_000_000_123);
  t.match(id, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  t.equal(ulidTimeMs(id), 1_700_000_000_123);
  t.ok(isRequestId(id));
});

t.test('new request ids are unique, and sort by their time', async (t) => {
  const ids = Array.from({ length: 10_000 }, () => newRequestId());
  t.equal(new Set(ids).size, ids.length);
  t.ok(newRequestId(1_000) < newRequestId(1_001));
});

t.test('every digit of the random part is used evenly', async (t) => {
  const counts = new Map<string, number>();
  for (let index = 0; index < 20_000; index += 1) {
    for (const digit of newRequestId().slice(10)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  }
  t.equal(counts.size, 32);
  const expected = (20_000 * 16) / 32;
  for (const [digit, count] of counts)
    t.ok(Math.abs(count - expected) < expected * 0.06, `digit ${digit}: ${count}`);
});

const choices: [string, boolean][] = [
  ['01ARZ3NDEKTSV4RRFFQ69G5FAV', true],
  ['01arz3ndektsv4rrffq69g5fav', true],
  ['7ZZZZZZZZZZZZZZZZZZZZZZZZZ', true],
  ['8ZZZZZZZZZZZZZZZZZZZZZZZZZ', false],
  ['01ARZ3NDEKTSV4RRFFQ69G5FAI', false],
  ['01ARZ3NDEKTSV4RRFFQ69G5FA', false],
  ['6e0b4a1e-7a1e-4f3a-9d0a-0f2b6a4f9c11', true],
  ['6E0B4A1E-7A1E-4F3A-9D0A-0F2B6A4F9C11', true],
  ['6e0b4a1e7a1e4f3a9d0a0f2b6a4f9c11', false],
  ['', false],
  [' 01ARZ3NDEKTSV4RRFFQ69G5FAV', false],
  ["01ARZ3NDEKTSV4RRFFQ69G5FA'", false],
];

for (const [text, allowed] of choices) {
  t.test(`a caller ${allowed ? 'may' : 'may not'} choose "${text}"`, async (t) =>
    t.equal(isRequestId(text), allowed),
  );
}

t.test('ulidTimeMs returns the time of a ULID, and null for other ids', async (t) => {
  t.equal(ulidTimeMs('6e0b4a1e-7a1e-4f3a-9d0a-0f2b6a4f9c11'), null);
  t.equal(ulidTimeMs('01ARZ3NDEKTSV4RRFFQ69G5FAV'), 1_469_922_850_259);
});
