import t from 'tap';
import { errorOf } from '#core/chat/streams/error.ts';
import { appendItems, appendText, mergePieces, setKnown } from '#core/chat/streams/members.ts';
import type { JsonObject } from '#core/json/mod.ts';

t.test(
  'setKnown never replaces a member by null or by an empty text, but sets a new empty text',
  async (t) => {
    const target: JsonObject = { id: 'a', model: 'm' };
    setKnown(target, { id: null, model: '', name: '', usage: 1, choices: [] }, ['choices']);
    t.same(target, { id: 'a', model: 'm', name: '', usage: 1 });
  },
);

t.test(
  'appendText appends to a text, takes the place of null, and ignores a piece that is no text',
  async (t) => {
    const target: JsonObject = { content: null };
    for (const piece of ['Hel', 7, null, 'lo']) appendText(target, 'content', piece);
    t.equal(target.content, 'Hello');
  },
);

t.test('appendItems appends 300,000 items in place, more than one call may have arguments', async (t) => {
  const items: unknown[] = ['first'];
  const target: JsonObject = { items };
  appendItems(target, 'items', Array(300_000).fill('x'));
  t.equal(target.items, items);
  t.equal(items.length, 300_001);
});

t.test(
  'mergePieces lets named texts grow, replaces other members, and keeps __proto__ a plain member',
  async (t) => {
    const growing = ['arguments'];
    const first = mergePieces(undefined, { name: 'f', arguments: '{"a"' }, growing);
    const piece = JSON.parse('{"name":"g","arguments":":1}","__proto__":{"x":1}}') as JsonObject;
    const merged = mergePieces(first, piece, growing);
    t.equal(JSON.stringify(merged), '{"name":"g","arguments":"{\\"a\\":1}","__proto__":{"x":1}}');
    t.equal(({} as { x?: number }).x, undefined);
  },
);

t.test(
  'an error is read from error events and from bare error objects, and from no other event',
  async (t) => {
    const error = { message: 'overloaded' };
    t.same(errorOf({ type: 'error', data: { type: 'error', error } }), error);
    t.same(errorOf({ type: 'error', data: { type: 'error', sequence_number: 3, code: 'x' } }), { code: 'x' });
    t.same(errorOf({ type: null, data: { error } }), error);
    t.equal(errorOf({ type: null, data: { error: null } }), undefined);
    for (const data of [{ error: 'Gone' }, { error: 'Gone', error_type: null }])
      t.same(errorOf({ type: null, data }), { message: 'Gone' });
    t.same(errorOf({ type: null, data: { error: 'Too long', error_type: 'validation' } }), {
      message: 'Too long',
      type: 'validation',
    });
    const own = { object: 'error', type: 'BadRequestError', message: 'Gone' };
    t.same(errorOf({ type: own.type, data: own }), { type: 'BadRequestError', message: 'Gone' });
    for (const data of [{ error: 'Gone' }, own])
      t.equal(errorOf({ type: null, data: { ...data, choices: [] } }), undefined);
    t.same(errorOf({ type: null, data: { error, choices: [] } }), error);
    t.equal(errorOf({ type: 'response.created', data: { type: 'response.created', error } }), undefined);
  },
);
