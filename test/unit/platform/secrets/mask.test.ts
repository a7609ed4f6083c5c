import fc from 'fast-check';
import t from 'tap';
import { maskSecrets } from '#platform/secrets/mod.ts';

t.test('every occurrence of a secret is masked, in whatever form it is written', (t) => {
  const mask = (text: string) =>
    maskSecrets(text, ['Bearer tok-12345678', 'a"b\\c/d e', 'whsec_c2VjcmV0c2VjcmV0']);
  t.equal(mask('no: Bearer tok-12345678, Bearer tok-12345678'), 'no: [secret], [secret]');
  t.equal(mask('the token tok-12345678 is unknown'), 'the token [secret] is unknown');
  t.equal(mask(JSON.stringify({ got: 'a"b\\c/d e' })), '{"got":"[secret]"}');
  t.equal(mask(`?key=${encodeURIComponent('a"b\\c/d e')}`), '?key=[secret]');
  t.equal(mask('key c2VjcmV0c2VjcmV0'), 'key [secret]');
  t.equal(mask('nothing here'), 'nothing here');
  t.equal(maskSecrets('as it is', []), 'as it is');
  t.equal(maskSecrets('as it is', ['']), 'as it is');
  t.equal(maskSecrets('$& .* (x)', ['.*', '$&']), '[secret] [secret] (x)', 'secrets are no patterns');
  t.equal(maskSecrets('abcd abc', ['abc', 'abcd']), '[secret] [secret]', 'the longest first');
  t.equal(maskSecrets('s', ['s', 'e']), '[secret]', 'the mark itself is left alone');
  t.end();
});

t.test('a secret is masked within any text', (t) => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 12 }), fc.string(), (before, secret, after) => {
      const masked = maskSecrets(`${before}${secret}${after}`, [secret]);
      return !masked.includes(secret) && masked.includes('[secret]');
    }),
  );
  t.end();
});
