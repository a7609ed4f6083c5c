import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { appendMember, editMembers, type MemberChange, scanMembers } from '#core/json/mod.ts';
import { runs } from '../../../support/fuzz-runs.ts';

const json = fc.jsonValue({ maxDepth: 4 });
const object = fc.dictionary(fc.string({ unit: 'grapheme' }), json, { maxKeys: 6 });
const name = fc.constantFrom('model', 'stream_options', 'x');

function edited(body: Buffer, ...changes: MemberChange[]): Buffer {
  const names = changes.map((change) => change.name);
  return Buffer.concat(editMembers(body, scanMembers(body, { names, maxDepth: 100 }), changes));
}

const setMember = (body: Buffer, member: string, value: unknown) =>
  edited(body, { kind: 'set', name: member, value });
const dropMember = (body: Buffer, member: string) => edited(body, { kind: 'drop', name: member });

t.test('setting a member gives the same object as JavaScript, whatever else is in it', async (t) => {
  fc.assert(
    fc.property(object, name, json, fc.constantFrom(0, 2, '\t'), (body, member, value, indent) => {
      const edited = setMember(Buffer.from(JSON.stringify(body, null, indent)), member, value);
      // Through text on both sides: -0 and __proto__ are told apart by JSON.parse in the same way.
      const expected = JSON.parse(JSON.stringify(body));
      Object.defineProperty(expected, member, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
      deepStrictEqual(JSON.parse(edited.toString()), JSON.parse(JSON.stringify(expected)));
    }),
    runs(t, 1_000),
  );
});

t.test('appending a member to an object without it gives the bytes that setting it gives', async (t) => {
  fc.assert(
    fc.property(
      object,
      json,
      fc.constantFrom(0, 2, '\t'),
      fc.constantFrom('', ' ', '\r\n'),
      (body, value, indent, end) => {
        fc.pre(Object.keys(body).length > 0 && !Object.hasOwn(body, 'x'));
        const bytes = Buffer.from(JSON.stringify(body, null, indent) + end);
        return Buffer.concat(appendMember(bytes, 'x', value)).equals(setMember(bytes, 'x', value));
      },
    ),
    runs(t, 1_000),
  );
});

t.test(
  'setting a member changes no other byte: spacing, number forms, escapes, duplicates, invalid UTF-8',
  async (t) => {
    const before = Buffer.concat([
      Buffer.from('\n{ "a" : 1.50e+02 ,"\\u006dodel":"old","b":"'),
      Buffer.from([0xff, 0xc3]),
      Buffer.from('","c":[ 1 ,{"model":2}] }  '),
    ]);
    const after = setMember(before, 'model', 'new');
    t.equal(after.toString('latin1'), before.toString('latin1').replace('"old"', '"new"'));
  },
);

t.test(
  'setting a repeated member sets all of them, since servers differ in which one they read',
  async (t) => {
    const after = setMember(
      Buffer.from('{"model":"a","model":{"b":"}"},"z":0,"model":[1,"]"]}'),
      'model',
      'm',
    );
    t.equal(after.toString(), '{"model":"m","model":"m","z":0,"model":"m"}');
  },
);

t.test('setting a missing member appends it', async (t) => {
  t.equal(setMember(Buffer.from('{}'), 'model', 'm').toString(), '{"model":"m"}');
  t.equal(
    setMember(Buffer.from(' { "a":"}" } \n'), 'x', { y: 'é' }).toString(),
    ' { "a":"}" ,"x":{"y":"é"}} \n',
  );
});

t.test('dropping a member removes it at every position and every repetition', async (t) => {
  const members = fc.array(fc.tuple(fc.constantFrom('x', 'a', 'b', '\\u0078', '}'), json), { maxLength: 6 });
  const space = fc.constantFrom('', ' ', '\n\t');
  fc.assert(
    fc.property(members, space, (given, gap) => {
      const text = (kept: typeof given) =>
        kept.map(([key, value]) => `"${key}"${gap}:${gap}${JSON.stringify(value)}`).join(`${gap},${gap}`);
      const dropped = dropMember(Buffer.from(`${gap}{${gap}${text(given)}${gap}}`), 'x').toString();
      const isKept = ([key]: [string, unknown]) => key !== 'x' && key !== '\\u0078';
      deepStrictEqual(JSON.parse(dropped), JSON.parse(`{${text(given.filter(isKept))}}`));
    }),
    runs(t, 1_000),
  );
});

t.test('dropping a member changes no other byte', async (t) => {
  const cases = [
    ['{ "a" : 1.50e+02 , "x":{"x":1}, "b":"x" }', '{ "a" : 1.50e+02 ,  "b":"x" }'],
    ['{"a":1 ,\n "x":[1,2] }', '{"a":1  }'],
    ['{"x":1,"x":2}', '{}'],
    ['{ "a":"x" }', '{ "a":"x" }'],
  ];
  for (const [before, after] of cases) t.equal(dropMember(Buffer.from(before!), 'x').toString(), after);
});

t.test('setting one member and dropping another at once gives what doing both in turn gives', async (t) => {
  const members = fc.array(fc.tuple(fc.constantFrom('x', 'model', 'a'), json), { maxLength: 6 });
  fc.assert(
    fc.property(members, (given) => {
      const text = given.map(([key, value]) => `"${key}": ${JSON.stringify(value)}`).join(' ,\n');
      const body = Buffer.from(`{${text}}`);
      const both = edited(
        body,
        { kind: 'set', name: 'model', value: 'new' },
        { kind: 'drop', name: 'x' },
      ).toString();
      deepStrictEqual(
        JSON.parse(both),
        JSON.parse(setMember(dropMember(body, 'x'), 'model', 'new').toString()),
      );
    }),
    runs(t, 1_000),
  );
});

t.test(
  'an inner member is set in each object of the name, and replaces a value that is no object',
  async (t) => {
    const body = Buffer.from('{"o":{"a":1},"o":[2],"o":{ "in\\u006eer" : 3 } }');
    const after = edited(body, { kind: 'set inner', name: 'o', inner: 'inner', value: true });
    t.equal(after.toString(), '{"o":{"a":1,"inner":true},"o":{"inner":true},"o":{ "in\\u006eer" : true } }');
  },
);

t.test('members of several names that are neighbours are dropped with their commas', async (t) => {
  const drop = (text: string) =>
    edited(
      Buffer.from(text),
      { kind: 'drop', name: 'a' },
      { kind: 'drop', name: 'b' },
      { kind: 'add', name: 'c', json: '3' },
    ).toString();
  t.equal(drop('{"x":1,"a":1,"b":2}'), '{"x":1,"c":3}');
  t.equal(drop('{"b":1,"x":1 , "b":2 ,"a":1}'), '{"x":1 ,"c":3}');
  t.equal(drop('{"a":1,"b":2,"a":1}'), '{"c":3}');
  t.equal(drop('{"a":1,"c":4,"b":2}'), '{"c":4}', 'and a member that is there is not added');
});

t.test(
  'items are put before those of an array, and a value that is none becomes the last item',
  async (t) => {
    const prepend = (text: string) =>
      edited(Buffer.from(text), {
        kind: 'prepend',
        name: 'a',
        items: '1,2',
        wrap: ['{"v":', '}'],
      }).toString();
    t.equal(prepend('{"a":[3]}'), '{"a":[1,2,3]}');
    t.equal(prepend('{"a":[ ]}'), '{"a":[1,2 ]}');
    t.equal(prepend('{"a":"x","b":1}'), '{"a":[1,2,{"v":"x"}],"b":1}');
    t.equal(prepend('{"a":[],"a":[3]}'), '{"a":[1,2],"a":[1,2,3]}', 'each of a repeated name');
    t.equal(prepend('{"b":1}'), '{"b":1,"a":[1,2]}');
  },
);
