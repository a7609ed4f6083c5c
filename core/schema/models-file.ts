/**
 * MODELS_FILE: models and prices that the operator adds to the registry's, or sets instead of them. What they do is in
 * core/catalog; here is what may be written.
 */
import { createHash } from 'node:crypto';
import { type Static, Type } from '@sinclair/typebox';
import { Compile, explain } from './check.ts';
import { secondsOfDate } from './date.ts';
import { PROVIDER_NAMES } from './provider.ts';

const closed = { additionalProperties: false };
/** A name goes into URLs and headers of answers, and is what callers write. */
const LONGEST_NAME = 256;
const MAX_MODELS = 5_000;
/** USD for a million tokens: a typing error, not a price. */
const MAX_USD = 1_000_000;
/** More decimals than a price has are a typing error too, and could not be calculated with exactly. */
const DECIMAL = /^\d+(?:\.\d{1,6})?$/;
/** More would not be read. */
const MAX_PROBLEMS = 20;

const Name = Type.String({ minLength: 1, maxLength: LONGEST_NAME });
const Usd = Type.Number({ minimum: 0, maximum: MAX_USD });

const Model = Type.Object(
  {
    id: Name,
    provider: Type.Union(PROVIDER_NAMES.map((name) => Type.Literal(name))),
    model: Type.Optional(Name),
    price: Type.Optional(
      Type.Object(
        {
          input: Usd,
          output: Usd,
          cached_input: Type.Optional(Usd),
          cache_write: Type.Optional(Usd),
        },
        closed,
      ),
    ),
    created: Type.Optional(Type.String()),
    owned_by: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    listed: Type.Optional(Type.Boolean()),
  },
  closed,
);
const File = Type.Object({ models: Type.Array(Model, { maxItems: MAX_MODELS }) }, closed);

/** A model as the file has it; prices in USD for a million tokens. */
export type OperatorModel = Static<typeof Model>;

export type OperatorModels = {
  models: OperatorModel[];
  /** Which list these prices are, as costs say: `models-file@` and the beginning of the file's SHA-256. */
  source: string;
};

export type ModelsFileResult = { ok: true; value: OperatorModels } | { ok: false; problems: string[] };

const checker = Compile(File);

/** Reads the text of the file, and reports everything that is wrong with it: one sentence each, without a subject. */
export function parseModelsFile(text: string): ModelsFileResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, problems: [`is not JSON: ${error instanceof Error ? error.message : error}`] };
  }
  const problems = checker.Check(value) ? problemsOf(value) : shapeProblems(value);
  if (problems.length > 0) return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) };
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return {
    ok: true,
    value: { models: (value as Static<typeof File>).models, source: `models-file@${hash}` },
  };
}

/** One for each place: the checker tells of a missing field twice. */
function shapeProblems(value: unknown): string[] {
  const byPlace = new Map<string, string>();
  for (const error of checker.Errors(value)) {
    if (byPlace.size > MAX_PROBLEMS) break;
    if (!byPlace.has(error.path)) byPlace.set(error.path, explain(error));
  }
  return [...byPlace.values()];
}

/** What a schema cannot say. */
function problemsOf({ models }: Static<typeof File>): string[] {
  const first = new Map<string, number>();
  return models.flatMap((model, index) => {
    const earlier = first.get(model.id);
    first.set(model.id, earlier ?? index);
    const rules = [...nameRules(model), ...valueRules(model)];
    if (earlier !== undefined) rules.push(`id "${model.id}" is that of models.${earlier} too`);
    return rules.map((rule) => `models.${index}.${rule}`);
  });
}

function nameRules({ id, provider, model }: OperatorModel): string[] {
  const rules: string[] = [];
  for (const [field, name] of Object.entries({ id, model })) {
    // A comma is what a fallback list has between its models.
    if (name !== undefined && /[^\x21-\x7e]|,/.test(name)) {
      rules.push(
        `${field} must be printable ASCII without spaces and commas, but is ${JSON.stringify(name)}`,
      );
    }
  }
  const prefix = id.slice(0, Math.max(id.indexOf('/'), 0)).toLowerCase();
  if ((PROVIDER_NAMES as readonly string[]).includes(prefix) && prefix !== provider) {
    rules.push(`id "${id}" names the provider ${prefix}, but provider is "${provider}"`);
  }
  return rules;
}

function valueRules({ price, created }: OperatorModel): string[] {
  const rules = Object.entries(price ?? {})
    .filter(([, usd]) => !DECIMAL.test(String(usd)))
    .map(([kind, usd]) => `price.${kind} must have at most six decimals, but is ${usd}`);
  if (created !== undefined && secondsOfDate(created) === null) {
    rules.push(`created must be a date like 2026-01-31, but is ${JSON.stringify(created)}`);
  }
  return rules;
}
