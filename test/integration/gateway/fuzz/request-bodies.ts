/** Requests as clients may write them, with what their provider must be sent for them. */
import fc from 'fast-check';
import type { ApiEndpoint } from '../../../../gateway/endpoints/endpoint.ts';
import {
  bytesOf,
  type Member,
  rawString,
  rawValue,
  spaces,
  spelled,
  unknownMembers,
  writeObject,
} from './json-text.ts';

export type RequestCase = {
  /** What the client sends. */
  sent: Buffer;
  /** What the provider must be sent. */
  expected: Buffer;
  /** The model as the client names it. */
  model: string;
  isStream: boolean;
  /** Usage is asked for by the gateway alone. */
  hidesUsage: boolean;
};

/** What a member means to the gateway; of several with a name the last one counts. */
type Meaning =
  | { of: 'model'; asked: string; known: string }
  | { of: 'stream'; isOn: boolean }
  | { of: 'options'; isAsking: boolean; asking: string }
  | { of: 'nothing' };

type Part = { name: string; value: string; meaning: Meaning };

/** A provider, and a model that needs no prefix to be its. */
type Provider = { name: string; bare: string; takesUsageOption: boolean };

const OPENAI: Provider = { name: 'openai', bare: 'gpt-4o-mini', takesUsageOption: true };
const ANTHROPIC: Provider = { name: 'anthropic', bare: 'claude-sonnet-4-5', takesUsageOption: true };
/** Refuses stream options, which are left out. */
const MISTRAL: Provider = { name: 'mistral', bare: 'mistral-small-latest', takesUsageOption: false };

/** Who has the endpoint of a surface in its own dialect. */
const PROVIDERS: Record<ApiEndpoint['providerEndpoint'], readonly Provider[]> = {
  chat: [OPENAI, OPENAI, MISTRAL],
  completions: [OPENAI],
  responses: [OPENAI],
  compact: [OPENAI],
  inputTokens: [OPENAI],
  embeddings: [OPENAI, MISTRAL],
  moderations: [OPENAI, MISTRAL],
  messages: [ANTHROPIC],
  countTokens: [ANTHROPIC],
};
const OTHER_NAMES = ['brand-new', 'ft:gpt-4o:acme::1', 'modèle "x" \\ 🚀', 'a\r\nb: c', '\u0000\ud83d'];

/** A model by a name that passes as it is, or behind its provider's, which is dropped. */
function model({ name, bare }: Provider): fc.Arbitrary<Part> {
  const behind = (known: string) => ({ asked: `${name}/${known}`, known });
  return fc
    .constantFrom({ asked: bare, known: bare }, ...OTHER_NAMES.map(behind))
    .chain(({ asked, known }) => part('model', spelled(asked), { of: 'model', asked, known }));
}

const stream = fc
  .constantFrom('true', 'true', 'true', 'false', 'null')
  .chain((value) => part('stream', fc.constant(value), { of: 'stream', isOn: value === 'true' }));

function part(name: string, value: fc.Arbitrary<string>, meaning: Meaning): fc.Arbitrary<Part> {
  return fc.record({ name: spelled(name), value, meaning: fc.constant(meaning) });
}

function options(value: string, isAsking: boolean, asking: string): fc.Arbitrary<Part> {
  return part('stream_options', fc.constant(value), { of: 'options', isAsking, asking });
}

/** Members of options, which are refused as a whole above 64 KiB: two groups of them stay below that. */
const optionMembers = unknownMembers.filter(
  (members) => members.reduce((sum, { name, value }) => sum + name.length + value.length, 0) < 5_000,
);

/** Options that already ask for usage, among others. */
const askingOptions = fc.tuple(optionMembers, spaces).chain(([members, gaps]) => {
  const value = writeObject([...members, { name: '"include_usage"', value: 'true' }], gaps);
  return options(value, true, value);
});

/** Options that do not, with others, or are none: the wish is set in place, and every other byte stays. */
export const silentOptions = fc.oneof(
  fc
    .record({
      before: optionMembers,
      wish: fc.option(fc.constantFrom('false', 'null', '"true"', '1'), { nil: null }),
      after: optionMembers,
      gaps: spaces,
    })
    .chain(({ before, wish, after, gaps }) => {
      const write = (value: string) =>
        writeObject([...before, { name: '"include_usage"', value }, ...after], gaps);
      if (wish !== null) return options(write(wish), false, write('true'));
      const value = writeObject([...before, ...after], gaps);
      return options(
        value,
        false,
        withMember(value, '"include_usage":true', before.length + after.length > 0),
      );
    }),
  fc.constantFrom('null', '[]', '7').chain((value) => options(value, false, '{"include_usage":true}')),
);

function withMember(object: string, member: string, hasOthers: boolean): string {
  const end = object.lastIndexOf('}');
  return `${object.slice(0, end)}${hasOthers ? ',' : ''}${member}${object.slice(end)}`;
}

/**
 * Bodies for a surface of which a provider is asked in its own dialect.
 * @param streamOptions what there may be of them
 */
export function requestBodies(
  surface: ApiEndpoint,
  streamOptions: fc.Arbitrary<Part> = askingOptions,
): fc.Arbitrary<RequestCase> {
  const some = (arbitrary: fc.Arbitrary<Part>, minLength = 0) =>
    fc.oneof(
      { arbitrary: fc.array(arbitrary, { minLength, maxLength: 1 }), weight: 9 },
      { arbitrary: fc.array(arbitrary, { minLength, maxLength: 2 }), weight: 1 },
    );
  const bodies = (provider: Provider) =>
    fc
      .record({
        models: some(model(provider), 1),
        streams: some(surface.canStream ? stream : part('stream', rawValue, { of: 'nothing' })),
        options: some(streamOptions),
        unknown: unknownMembers.map((members) =>
          members.map((member): Part => ({ ...member, meaning: { of: 'nothing' } })),
        ),
        user: fc.array(part('user', rawString, { of: 'nothing' }), { maxLength: 1 }),
      })
      .chain(({ models, streams, options, unknown, user }) => {
        const parts = [...models, ...streams, ...options, ...unknown, ...user];
        return fc.record({
          surface: fc.constant(surface),
          provider: fc.constant(provider),
          parts: fc.shuffledSubarray(parts, { minLength: parts.length }),
          // Of the spaces around what is left out some go with it.
          gaps: provider.takesUsageOption ? spaces : fc.constant<string[]>(['']),
          around: fc.constantFrom('', ' ', '\r\n'),
        });
      });
  return fc
    .constantFrom(...PROVIDERS[surface.providerEndpoint])
    .chain(bodies)
    .map(caseOf);
}

type Written = {
  surface: ApiEndpoint;
  provider: Provider;
  parts: readonly Part[];
  gaps: string[];
  around: string;
};

function caseOf({ surface, provider, parts, gaps, around }: Written): RequestCase {
  const last = <M extends Meaning['of']>(of: M) =>
    parts.map(({ meaning }) => meaning).findLast((one): one is Meaning & { of: M } => one.of === of);
  const { asked, known } = last('model')!;
  const isStream = last('stream')?.isOn ?? false;
  const wishes = last('options');
  const mayAsk = isStream && surface.hasUsageOption && provider.takesUsageOption;
  const hidesUsage = mayAsk && wishes?.isAsking !== true;
  const wanted = ({ name, value, meaning }: Part): Member => {
    if (meaning.of === 'model' && asked !== known) return { name, value: bytesOf(JSON.stringify(known)) };
    if (meaning.of === 'options' && hidesUsage) return { name, value: meaning.asking };
    return { name, value };
  };
  const isDropped = ({ meaning }: Part) => meaning.of === 'options' && !provider.takesUsageOption;
  const expected = writeObject(parts.filter((one) => !isDropped(one)).map(wanted), gaps);
  const isAdded = hidesUsage && wishes === undefined;
  const added = isAdded ? withMember(expected, '"stream_options":{"include_usage":true}', true) : expected;
  const bytes = (text: string) => Buffer.from(`${around}${text}${around}`, 'latin1');
  return {
    sent: bytes(writeObject(parts, gaps)),
    expected: bytes(added),
    model: asked,
    isStream,
    hidesUsage,
  };
}
