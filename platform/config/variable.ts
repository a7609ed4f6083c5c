/** A variable of the environment: a TypeBox schema, annotated for operators and for the reader. */
import { Kind, type SchemaOptions, type TSchema, Type } from '@sinclair/typebox';

/** The processes that use variables; the supervisor is `npm start` and the commands. */
export const PROCESSES = ['supervisor', 'gateway', 'api', 'ingest', 'evaluators'] as const;
export type ProcessName = (typeof PROCESSES)[number];

/** The sections of docs/configuration.md, in its order. */
export const GROUPS = [
  'Network',
  'Storage',
  'Keys and secrets',
  'Gateway',
  'Providers',
  'Evaluators',
  'Proxies',
  'Process',
] as const;

/** The sentences about a variable for operators. */
export type About = {
  group: (typeof GROUPS)[number];
  /** The processes that use it. */
  roles: readonly ProcessName[];
  /** For docs/configuration.md: Markdown, with links relative to docs/. */
  description: string;
  unit?: 'bytes' | 'days' | 'ms';
  /** A secret is never quoted in an error sentence. So is a value that may hold one, as the password of an address. */
  isSecret?: true;
  /** The description of a default that is not a fixed value. */
  defaultText?: string;
  /** Other programs read the variable too, in lower case or upper case. The lower-case name wins. */
  hasLowerCaseName?: true;
};

/** A variable's value, or the rest of a sentence that begins with the variable's name and says which rule is broken. */
export type Reading<T> = { value: T } | { problem: string };

/** Thrown while a text is decoded. The message is the rest of a sentence that begins with the variable's name. */
export class RuleBroken extends Error {}

const LONGEST_QUOTE = 80;

/** Returns a value as error sentences quote it: its first 80 characters, on one line. */
export function quoted(text: string): string {
  return JSON.stringify(text.slice(0, LONGEST_QUOTE));
}

/** A whole number within bounds. */
export function integer(minimum: number, maximum: number, about: About & { default: number }) {
  return Type.Integer({ minimum, maximum, ...about });
}

/** A whole number within bounds that may be missing. */
export function optionalInteger(minimum: number, maximum: number, about: About) {
  return Type.Optional(Type.Integer({ minimum, maximum, ...about }));
}

/** One of several words. */
export function choice<Word extends string>(words: readonly Word[], about: About & { default: Word }) {
  return Type.Union(
    words.map((word) => Type.Literal(word)),
    about,
  );
}

/** A text without rules, such as a path. */
export function text(form: string, about: About & { default: string }) {
  return Type.String({ form, ...about });
}

/** A text without rules that may be missing. */
export function optionalText(form: string, about: About) {
  return Type.Optional(Type.String({ form, ...about }));
}

/** A text of a pattern that may be missing. */
export function matching(pattern: RegExp, form: string, about: About) {
  return Type.Optional(Type.String({ pattern: pattern.source, form, ...about }));
}

/** A secret that goes into a header: printable ASCII without spaces, of a bounded length. */
export function secret(minLength: number, maxLength: number, about: About) {
  const form = `${minLength} to ${maxLength} printable ASCII characters without spaces`;
  const options = { pattern: '^[\\x21-\\x7e]+$', minLength, maxLength, form, isSecret: true };
  return Type.Optional(Type.String({ ...options, ...about }));
}

/** A text that `read` turns into a value. It may be missing. */
export function decoded<T>(form: string, read: (text: string) => Reading<T>, about: About) {
  const decode = (text: string): T => {
    const reading = read(text);
    if ('problem' in reading) throw new RuleBroken(reading.problem);
    return reading.value;
  };
  return Type.Optional(
    Type.Transform(Type.String({ form, ...about }))
      .Decode(decode)
      // The environment is only read.
      .Encode(String),
  );
}

type Annotated = SchemaOptions & Partial<About> & { form?: string };

/** Returns which values a variable may have, as error sentences and the documentation name them. */
export function formOf(schema: TSchema): string {
  if (schema[Kind] === 'Integer') return `a whole number from ${schema.minimum} to ${schema.maximum}`;
  const { form = 'a text', anyOf }: Annotated & { anyOf?: readonly TSchema[] } = schema;
  return anyOf === undefined ? form : `one of ${anyOf.map((option) => option.const).join(', ')}`;
}
