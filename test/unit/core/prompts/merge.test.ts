import fc from 'fast-check';
import t from 'tap';
import { AssayError } from '#core/contracts/errors.ts';
import { type JsonObject, scanMembers } from '#core/json/mod.ts';
import { expandPrompt, type ListMember, mergePrompt, namesToScan, parsePrompt } from '#core/prompts/mod.ts';

const MESSAGES: ListMember[] = [{ name: 'messages', wrap: null }];
const INPUT: ListMember[] = [{ name: 'input', wrap: ['{"role":"user","content":', '}'] }];

/** Returns the text of a merged body. */
function merge(
  stored: string,
  call: string,
  lists: ListMember[] = MESSAGES,
  inputs: JsonObject = {},
  maxBytes = 1_000_000,
): string {
  const members = expandPrompt(parsePrompt(stored), inputs, 1_000_000);
  const bytes = Buffer.from(call);
  const scanned = scanMembers(bytes, { names: namesToScan(members), maxDepth: 100 });
  return Buffer.concat(mergePrompt(bytes, scanned, members, lists, maxBytes)).toString();
}

t.test("a prompt's messages come before the call's, and the call's other fields win", async (t) => {
  const stored = '{"model":"a","temperature":0.5,"messages":[{"role":"system","content":"S"}],"top_p":0.1}';
  const cases: [string, string][] = [
    [
      '{"messages": [ {"role":"user"} ], "temperature": 1.0}',
      '{"messages": [{"role":"system","content":"S"}, {"role":"user"} ], "temperature": 1.0,"model":"a","top_p":0.1}',
    ],
    [
      '{"messages":[ ]}',
      '{"messages":[{"role":"system","content":"S"} ],"model":"a","temperature":0.5,"top_p":0.1}',
    ],
    ['{}', stored],
    [
      '{"model":null,"temperature":2,"top_p":3}',
      '{"model":null,"temperature":2,"top_p":3,"messages":[{"role":"system","content":"S"}]}',
    ],
  ];
  for (const [call, merged] of cases) t.equal(merge(stored, call), merged, call);
});

t.test('the fields that name the prompt are removed, wherever they stand and however often', async (t) => {
  const stored = '{"model":"a"}';
  const cases: [string, string][] = [
    ['{"prompt_id":"p","version_id":"v","environment":"e","inputs":{"a":1}}', '{"model":"a"}'],
    ['{"prompt_id":"p", "n":1 ,"inputs":{},"inputs":[]}', '{ "n":1 ,"model":"a"}'],
    ['{"n":1,"prompt_id":"p","version_id":null , "inputs":{}}', '{"n":1,"model":"a"}'],
    ['{"inputs":{},"n":1,"prompt_id":"p","inputs":{}}', '{"n":1,"model":"a"}'],
    ['{"n":1,"prompt_id":"p"}', '{"n":1,"model":"a"}'],
    ['{"n":1,"prompt_id":"p","version_id":null , "inputs":{}}', '{"n":1,"model":"a"}'],
    ['{"inputs":{},"n":1,"prompt_id":"p","inputs":{}}', '{"n":1,"model":"a"}'],
    ['{"n":1,"pr\\u006fmpt_id":"p","model":"b","inputs":{}}', '{"n":1,"model":"b"}'],
  ];
  for (const [call, merged] of cases) t.same(JSON.parse(merge(stored, call)), JSON.parse(merged), call);
});

t.test("a text as input of a response becomes the item after the prompt's", async (t) => {
  const stored = '{"model":"a","input":[{"role":"developer","content":"D"}]}';
  const item = '{"role":"developer","content":"D"}';
  const cases: [string, string][] = [
    ['{"input":"Hi"}', `{"input":[${item},{"role":"user","content":"Hi"}],"model":"a"}`],
    ['{"input":"Hi","prompt_id":"p"}', `{"input":[${item},{"role":"user","content":"Hi"}],"model":"a"}`],
    ['{"input":[{"role":"user"}],"n":1}', `{"input":[${item},{"role":"user"}],"n":1,"model":"a"}`],
  ];
  for (const [call, merged] of cases) t.equal(merge(stored, call, INPUT), merged, call);
  t.equal(
    merge('{"input":"S"}', '{"input":"Hi"}', INPUT),
    '{"input":[{"role":"user","content":"S"},{"role":"user","content":"Hi"}]}',
    'a text of the prompt becomes one, too',
  );
  t.equal(merge('{"input":"S"}', '{}', INPUT), '{"input":"S"}', 'and stays a text alone');
});

t.test('a list that is none is refused, whether the prompt or the call has it', async (t) => {
  const refusal = (stored: string, call: string, lists: ListMember[], inputs: JsonObject = {}) => {
    try {
      return merge(stored, call, lists, inputs);
    } catch (error) {
      if (error instanceof AssayError) return error.message;
      throw error;
    }
  };
  const stored = '{"messages":[1]}';
  t.equal(
    refusal(stored, '{"messages":"x"}', MESSAGES),
    "messages must be an array, for the stored prompt's to be joined with the call's",
  );
  t.equal(
    refusal(stored, '{"messages":null}', MESSAGES),
    "messages must be an array, for the stored prompt's to be joined with the call's",
  );
  t.equal(
    refusal('{"input":[1]}', '{"input":{}}', INPUT),
    "input must be an array or a string, for the stored prompt's to be joined with the call's",
  );
  t.equal(
    refusal('{"messages":"{{m:json}}"}', '{}', MESSAGES, { m: {} }),
    "messages of the stored prompt must be an array, for the stored prompt's to be joined with the call's",
  );
  t.equal(refusal('{"messages":"{{m:json}}"}', '{}', MESSAGES, { m: [2] }), '{"messages":[2]}');
  t.equal(refusal('{"messages":[]}', '{"messages":[2]}', MESSAGES), '{"messages":[2]}');
});

t.test(
  'merging any bodies joins the messages, and takes every other field from the call, else the prompt',
  async (t) => {
    const name = fc.constantFrom('model', 'n', 'stop', 'tools', 'user');
    const fields = fc.dictionary(name, fc.jsonValue());
    const messages = fc.option(fc.array(fc.jsonValue()), { nil: undefined });
    const own = fc.dictionary(
      fc.constantFrom('prompt_id', 'inputs', 'environment', 'version_id'),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(
        fields,
        messages,
        fields,
        messages,
        own,
        fc.boolean(),
        (stored, first, call, second, prompt, isFirst) => {
          const text = (value: unknown) => JSON.stringify(value, null, 1);
          const withoutHoles = text({ ...stored, ...(first && { messages: first }) }).replaceAll('{{', '{');
          fc.pre(isJson(withoutHoles));
          const fieldsOfCall = { ...call, ...(second && { messages: second }) };
          const prompted = text(isFirst ? { ...prompt, ...fieldsOfCall } : { ...fieldsOfCall, ...prompt });
          const merged = JSON.parse(merge(withoutHoles, prompted));
          const before = JSON.parse(withoutHoles) as JsonObject;
          const expected: JsonObject = { ...before, ...JSON.parse(text(call)) };
          if (first || second)
            expected.messages = [
              ...((before.messages as unknown[]) ?? []),
              ...JSON.parse(text(second ?? [])),
            ];
          t.same(merged, expected);
        },
      ),
    );
  },
);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

t.test('a call that repeats a list is refused before its copies of the prompt are made', async (t) => {
  const item = { role: 'system', content: 'x'.repeat(20_000) };
  const stored = JSON.stringify({ messages: [item], input: [item] });
  const itemBytes = JSON.stringify(item).length;
  for (const [name, value, lists] of [
    ['messages', '[]', MESSAGES],
    ['input', '"a"', INPUT],
  ] as const) {
    const call = `{${Array.from({ length: 60 }, () => `"${name}":${value}`).join()}}`;
    t.throws(() => merge(stored, call, [...lists]), {
      code: 'body_too_large',
      // The copies alone, and not yet what is around them.
      message: `The request body with its stored prompt has at least ${60 * itemBytes} bytes; at most 1000000 are allowed`,
    });
  }
});

t.test('a merged body may be as large as it is allowed, and no larger', async (t) => {
  const stored = '{"model":"a","messages":[{"role":"system","content":"S"}]}';
  const call = '{"messages":[{"role":"user"}]}';
  const { length } = merge(stored, call);
  t.equal(merge(stored, call, MESSAGES, {}, length).length, length);
  t.throws(() => merge(stored, call, MESSAGES, {}, length - 1), { code: 'body_too_large' });
});
