import fc from 'fast-check';

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;
const LAST_CODE_POINT = 0x10ffff;

/**
 * Any character of Unicode, as the unit of `fc.string` and `fc.jsonValue`: the same code points as fast-check's own unit
 * `binary`, which takes a second of CPU time in each process that uses it to build its table of them.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: LAST_CODE_POINT - SURROGATES })
  .map(
    (at) => String.fromCodePoint(at < FIRST_SURROGATE ? at : at + SURROGATES),
    (character) => {
      const point = typeof character === 'string' ? character.codePointAt(0) : undefined;
      if (point === undefined || character !== String.fromCodePoint(point))
        throw new Error('Not one character');
      return point < FIRST_SURROGATE ? point : point - SURROGATES;
    },
  );
