/** Reads variables by their schema. Collects every problem, so that the operator sees all of them at once. */
import { Kind, type StaticDecode, type TObject, type TSchema } from '@sinclair/typebox';
import { TransformDecodeError, Value } from '@sinclair/typebox/value';
import { formOf, quoted, RuleBroken } from './variable.ts';

/** The environment as the process got it. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type EnvironmentReading<Schema extends TObject> = {
  /** A variable with a problem has the value of a missing one, so that rules about several can be checked all the same. */
  values: StaticDecode<Schema>;
  problems: string[];
  /** The names of the variables that are set. */
  set: ReadonlySet<string>;
};

/** An empty variable counts as missing: compose files and CI systems pass "nothing" so. */
function textOf(environment: Environment, name: string): string | null {
  const text = environment[name]?.trim();
  return text === undefined || text === '' ? null : text;
}

/** Reads all variables of a schema. */
export function readEnvironment<Schema extends TObject>(
  schema: Schema,
  environment: Environment,
): EnvironmentReading<Schema> {
  const texts: Record<string, unknown> = {};
  const problems: string[] = [];
  const set = new Set<string>();
  for (const [name, variable] of Object.entries<TSchema>(schema.properties)) {
    if (variable.default !== undefined) texts[name] = variable.default;
    const lowerCase = name.toLowerCase();
    const isLowerCase = variable.hasLowerCaseName === true && textOf(environment, lowerCase) !== null;
    const givenName = isLowerCase ? lowerCase : name;
    const text = textOf(environment, givenName);
    if (text === null) continue;
    set.add(name);
    const value = plainValue(variable, text);
    const problem = problemOf(variable, value, text);
    if (problem === null) texts[name] = value;
    else problems.push(`${givenName} ${problem}`);
  }
  return { values: Value.Decode(schema, texts), problems, set };
}

/** Digits only, so that `1e3` and `0x10` are refused rather than guessed at. */
function plainValue(variable: TSchema, text: string): string | number {
  return variable[Kind] === 'Integer' && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** Returns the rest of a sentence that begins with the variable's name; null: the value keeps every rule. */
function problemOf(variable: TSchema, value: string | number, text: string): string | null {
  if (!Value.Check(variable, value)) return `must be ${formOf(variable)}${found(variable, text)}`;
  try {
    Value.Decode(variable, value);
    return null;
  } catch (error) {
    if (error instanceof TransformDecodeError && error.error instanceof RuleBroken)
      return error.error.message;
    throw error;
  }
}

/** A secret is not quoted: the sentence names its length alone, where that breaks the rule. */
function found({ isSecret, minLength, maxLength }: TSchema, text: string): string {
  if (!isSecret) return `, but is ${quoted(text)}`;
  return text.length < minLength || text.length > maxLength ? `, but has ${text.length} characters` : '';
}
