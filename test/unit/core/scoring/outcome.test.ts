import fc from 'fast-check';
import t from 'tap';
import { publicMessage } from '#core/scoring/mod.ts';
import { anyCharacter } from '../../../support/any-character.ts';

t.test('publicMessage makes one line of a text', async (t) => {
  t.equal(publicMessage('  two\r\nlines\u2028and\u0085more\t '), 'two lines and more');
  t.equal(publicMessage('\u001b[31mred\u001b[0m'), '[31mred [0m', 'without commands to a terminal');
  t.equal(publicMessage('evil\u202etxt\u200b'), 'evil txt', 'without what turns text around or hides in it');
});

t.test('publicMessage cuts a text at 500 characters and marks the cut', async (t) => {
  t.equal(publicMessage('a'.repeat(500)), 'a'.repeat(500));
  t.equal(publicMessage('a'.repeat(501)), `${'a'.repeat(499)}…`);
  t.equal(publicMessage('a'.repeat(1_000_000)), `${'a'.repeat(499)}…`);
  t.equal(publicMessage(`${'\n'.repeat(1_000)}reason`), 'reason', 'room is not used up by what is not shown');
});

t.test('publicMessage returns well-formed text when it cuts within a surrogate pair', async (t) => {
  const message = publicMessage('😀'.repeat(400));
  t.ok(message.isWellFormed());
  t.match(message, /^😀.*…$/u);
});

t.test('publicMessage makes any text fit to be shown and stored', async (t) => {
  // Texts of this length take minutes to shrink.
  const text = fc.noShrink(fc.string({ unit: anyCharacter, maxLength: 1_500, size: 'max' }));
  fc.assert(
    fc.property(text, (given) => {
      const message = publicMessage(given);
      return (
        message.length <= 500 &&
        message.isWellFormed() &&
        message === message.trim() &&
        !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(message)
      );
    }),
  );
  t.ok(publicMessage('a lone \ud83d surrogate').isWellFormed());
});
