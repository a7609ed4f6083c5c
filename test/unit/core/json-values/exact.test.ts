import t from 'tap';
import {
  isObject,
  isRawNumber,
  parseExactJson,
  parseExactObject,
  textOrNull,
} from '#core/json-values/mod.ts';

t.test('numbers that no double holds are written again as they were read', async (t) => {
  const text = '{"id":12345678901234567890,"small":0.1,"large":1e400,"plain":42}';
  t.equal(JSON.stringify(parseExactJson(text)), text);
  const { id, plain } = parseExactObject(text)!;
  t.ok(isRawNumber(id));
  t.equal(plain, 42);
});

t.test('only an object is an object: neither a list nor null nor a number kept as text', async (t) => {
  t.ok(isObject({}));
  t.notOk(isObject([]));
  t.notOk(isObject(null));
  t.equal(parseExactObject('12345678901234567890'), null);
  t.equal(textOrNull('a'), 'a');
  t.equal(textOrNull(1), null);
});
