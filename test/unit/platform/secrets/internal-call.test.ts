import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import {
  readExperimentCall,
  readInternalCall,
  readKeyCall,
  signExperimentCall,
  signInternalCall,
  signKeyCall,
} from '#platform/secrets/mod.ts';
import { anyCharacter } from '../../../support/any-character.ts';

const SECRET = 'a-secret-of-this-installation';
const NOW = Date.UTC(2026, 2, 1);
const MINUTE = 60_000;
const CALL = { organizationId: '00000000-0000-4000-8000-000000000001', evaluationId: '4711' };
const SIGNED = signInternalCall(SECRET, CALL, NOW);

const read = (value: string, nowMs = NOW) => readInternalCall(SECRET, value, nowMs);

t.test('a signed internal call is read back, whatever its ids', async () => {
  fc.assert(
    fc.property(
      fc.uuid(),
      fc.string({ unit: 'grapheme' }),
      fc.integer({ min: 0, max: 4e12 }),
      (organizationId, evaluationId, nowMs) => {
        const value = signInternalCall(SECRET, { organizationId, evaluationId }, nowMs);
        const call = readInternalCall(SECRET, value, nowMs);
        return call?.organizationId === organizationId && call.evaluationId === evaluationId;
      },
    ),
  );
});

t.test('a signed internal call is a valid header value', async () => {
  fc.assert(
    fc.property(fc.uuid(), fc.string({ unit: 'grapheme' }), (organizationId, evaluationId) =>
      /^[\w.-]+$/.test(signInternalCall(SECRET, { organizationId, evaluationId }, NOW)),
    ),
  );
});

t.test('a signed internal call with any flipped bit is refused', async (t) => {
  const bytes = Buffer.from(SIGNED);
  for (let index = 0; index < bytes.length * 8; index += 1) {
    const changed = Buffer.from(bytes);
    changed[index >> 3]! ^= 1 << (index & 7);
    // As a header arrives: a character for each byte.
    const value = changed.toString('latin1');
    if (read(value) !== null) t.fail(`bit ${index} is not looked at: ${value}`);
  }
});

t.test('a signed internal call with inserted or missing characters is refused', async (t) => {
  for (const more of ['.', '.x', '=', ' ', ',x']) t.equal(read(SIGNED + more), null, `"${more}" at its end`);
  const at = fc.integer({ min: 0, max: SIGNED.length });
  fc.assert(
    fc.property(at, fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 3 }), (index, more) => {
      return read(SIGNED.slice(0, index) + more + SIGNED.slice(index)) === null;
    }),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: SIGNED.length - 1 }),
      (length) => read(SIGNED.slice(0, length)) === null,
    ),
  );
});

t.test('an internal call signed with another secret is refused', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (secret) => {
      return secret === SECRET || read(signInternalCall(secret, CALL, NOW)) === null;
    }),
  );
});

t.test('an internal call with another organization under the old signature is refused', async (t) => {
  const [payload, signature] = SIGNED.split('.');
  const theirs = signInternalCall(
    SECRET,
    { ...CALL, organizationId: '00000000-0000-4000-8000-000000000002' },
    NOW,
  );
  t.equal(read(`${theirs.split('.')[0]}.${signature}`), null);
  t.equal(read(`${payload}.${theirs.split('.')[1]}`), null);
  t.match(
    read(theirs),
    { organizationId: '00000000-0000-4000-8000-000000000002' },
    'which is what was signed',
  );
});

t.test(
  'a signed internal call is valid from five minutes before to five minutes after its time',
  async (t) => {
    t.same(read(SIGNED, NOW + 5 * MINUTE), CALL);
    t.same(read(SIGNED, NOW - 5 * MINUTE), CALL);
    t.equal(read(SIGNED, NOW + 5 * MINUTE + 1), null);
    t.equal(read(SIGNED, NOW - 5 * MINUTE - 1), null);
  },
);

t.test('a signed internal call may be used again within its time', async (t) => {
  t.same(read(SIGNED), CALL);
  t.same(read(SIGNED, NOW + MINUTE), CALL);
});

t.test('any text that is no signed internal call is refused, and never throws', async (t) => {
  const JUNK = [
    '',
    '.',
    '..',
    'null',
    'Bearer x',
    '💥',
    '\u0000',
    'a'.repeat(10_000),
    '='.repeat(50),
    'e30.e30',
  ];
  for (const value of JUNK) t.equal(read(value), null, JSON.stringify(value.slice(0, 40)));
  const part = fc.string({ unit: anyCharacter, maxLength: 60 });
  fc.assert(
    fc.property(
      part,
      fc.constantFrom('', '.', '..'),
      part,
      (one, dot, other) => read(one + dot + other) === null,
    ),
  );
});

t.test(
  'an internal call with an empty payload, an empty signature or an unkeyed one is refused',
  async (t) => {
    const [payload] = SIGNED.split('.');
    t.equal(read(`${payload}.`), null);
    t.equal(read(`.${SIGNED.split('.')[1]}`), null);
    const unkeyed = createHmac('sha256', '').update(payload!).digest('base64url');
    t.equal(read(`${payload}.${unkeyed}`), null);
  },
);

const KEY_ID = '00000000-0000-4000-8000-00000000000a';
const OF_KEY = signKeyCall(SECRET, KEY_ID, NOW);
const readKey = (value: string, nowMs = NOW) => readKeyCall(SECRET, value, nowMs);

t.test('a call signed for a key is read back for five minutes, and is a valid header value', async (t) => {
  t.equal(readKey(OF_KEY), KEY_ID);
  t.match(OF_KEY, /^[\w.-]+$/);
  t.equal(readKey(OF_KEY, NOW + 5 * MINUTE), KEY_ID);
  t.equal(readKey(OF_KEY, NOW + 5 * MINUTE + 1), null);
  t.equal(readKey(OF_KEY, NOW - 5 * MINUTE - 1), null);
});

t.test('a call signed for a key with any changed character, or by another secret, is refused', async (t) => {
  const at = fc.integer({ min: 0, max: OF_KEY.length });
  fc.assert(
    fc.property(at, fc.nat(3), fc.string({ unit: 'binary-ascii', maxLength: 3 }), (index, cut, more) => {
      const value = OF_KEY.slice(0, index) + more + OF_KEY.slice(index + cut);
      return value === OF_KEY || readKey(value) === null;
    }),
  );
  t.equal(readKey(signKeyCall('guessed', KEY_ID, NOW)), null);
});

t.test('a signature for an evaluation is none for a key, and the other way round', async (t) => {
  t.equal(read(OF_KEY), null);
  t.equal(readKey(SIGNED), null);
  const [kind, payload, signature] = OF_KEY.split('.');
  t.equal(read(`${payload}.${signature}`), null);
  t.equal(readKey(`${kind}.${SIGNED}`), null);
});

t.test('a signature for an experiment is read as that, and as nothing else', async (t) => {
  const call = { organizationId: CALL.organizationId, experimentId: '00000000-0000-4000-8000-00000000e001' };
  const signed = signExperimentCall(SECRET, call, NOW);
  t.same(readExperimentCall(SECRET, signed, NOW), call);
  t.equal(readKeyCall(SECRET, signed, NOW), null);
  t.equal(readInternalCall(SECRET, signed, NOW), null);
  t.equal(readExperimentCall(SECRET, signKeyCall(SECRET, CALL.organizationId, NOW), NOW), null);
  t.equal(readExperimentCall(SECRET, signed.replace(/^experiment/, 'key'), NOW), null);
  t.equal(readExperimentCall(SECRET, signed, NOW + 6 * MINUTE), null, 'for five minutes');
  t.equal(readExperimentCall('another', signed, NOW), null);
});
