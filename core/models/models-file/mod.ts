/**
 * MODELS_FILE: models and prices that the operator adds to the registry's, or sets instead of them, and groups of models
 * that calls are shared out to. The catalog reads the former, gateway/routing the latter; here is what may
 * be written.
 */
import { createHash } from 'node:crypto';
import { type Static, Type } from '@sinclair/typebox';
import { Compile, explain } from '../../contracts/check.ts';
import { PROVIDER_NAMES } from '../../contracts/provider.ts';
import { secondsOfDate } from '../date.ts';

const closed = { additionalProperties: false };
/** A name goes into URLs and headers of answers, and is what callers write. */
const LONGEST_NAME = 256;
const MAX_MODELS = 5_000;
const MAX_GROUPS = 1_000;
/** All of them may have to be tried for one call, up to six times each, and all of that is in its record. */
export const MAX_GROUP_ROUTES = 10;
/** Shares of a whole are written in tens, hundreds or thousands. */
const MAX_WEIGHT = 1_000_000;
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
const GroupRoute = Type.Object(
  { model: Name, weight: Type.Optional(Type.Number({ minimum: 0, maximum: MAX_WEIGHT })) },
  closed,
);
const Group = Type.Object(
  { id: Name, routes: Type.Array(GroupRoute, { minItems: 1, maxItems: MAX_GROUP_ROUTES }) },
  closed,
);
const File = Type.Object(
  {
    models: Type.Optional(Type.Array(Model, { maxItems: MAX_MODELS })),
    groups: Type.Optional(Type.Array(Group, { maxItems: MAX_GROUPS })),
  },
  closed,
);

/** A model as the file has it; prices in USD for a million tokens. */
export type OperatorModel = Static<typeof Model>;

/** A name for several models, of which each call gets one by weight; a missing weight is 1. */
export type OperatorGroup = Static<typeof Group>;

export type OperatorModels = {
  models: OperatorModel[];
  groups: OperatorGroup[];
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
  if (!checker.Check(value)) return { ok: false, problems: shapeProblems(value) };
  const { models = [], groups = [] } = value;
  const problems = [...modelProblems(models), ...groupProblems(groups, models)];
  if (problems.length > 0) return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) };
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { ok: true, value: { models, groups, source: `models-file@${hash}` } };
}

/** One for each place: the checker tells of a missing field twice. */
function shapeProblems(value: unknown): string[] {
  const byPlace = new Map<string, string>();
  for (const error of checker.Errors(value)) {
    if (byPlace.size === MAX_PROBLEMS) break;
    if (!byPlace.has(error.path)) byPlace.set(error.path, explain(error));
  }
  return [...byPlace.values()];
}

/** What a schema cannot say of models. */
function modelProblems(models: readonly OperatorModel[]): string[] {
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
  const rules = [...textRules('id', id), ...textRules('model', model)];
  const named = providerNamedBy(id);
  if (named !== null && named !== provider) {
    rules.push(`id "${id}" names the provider ${named}, but provider is "${provider}"`);
  }
  return rules;
}

function textRules(field: string, name: string | undefined): string[] {
  // A comma is what a list has between its models.
  if (name === undefined || !/[^\x21-\x7e]|,/.test(name)) return [];
  return [`${field} must be printable ASCII without spaces and commas, but is ${JSON.stringify(name)}`];
}

/** The provider that an id begins with, as in `openai/gpt-4o`. */
function providerNamedBy(id: string): string | null {
  const prefix = id.slice(0, Math.max(id.indexOf('/'), 0)).toLowerCase();
  return PROVIDER_NAMES.find((name) => name === prefix) ?? null;
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

/** What a schema cannot say of groups. */
function groupProblems(groups: readonly OperatorGroup[], models: readonly OperatorModel[]): string[] {
  const groupIds = new Set(groups.map(({ id }) => id));
  const taken = new Map<string, string>();
  for (const [index, { id }] of models.entries()) if (!taken.has(id)) taken.set(id, `models.${index}`);
  return groups.flatMap((group, index) => {
    const { id } = group;
    const rules = textRules('id', id);
    const named = providerNamedBy(id);
    if (named !== null) rules.push(`id "${id}" names the provider ${named}, which has models and no groups`);
    const earlier = taken.get(id);
    if (earlier !== undefined) rules.push(`id "${id}" is that of ${earlier} too`);
    taken.set(id, earlier ?? `groups.${index}`);
    return [...rules, ...routeRules(group, groupIds)].map((rule) => `groups.${index}.${rule}`);
  });
}

function routeRules({ routes }: OperatorGroup, groupIds: ReadonlySet<string>): string[] {
  const first = new Map<string, number>();
  return routes.flatMap(({ model }, index) => {
    const rules = textRules('model', model);
    if (groupIds.has(model)) rules.push(`model "${model}" is a group, and a group cannot hold another`);
    const earlier = first.get(model);
    if (earlier !== undefined) rules.push(`model "${model}" is that of routes.${earlier} too`);
    first.set(model, earlier ?? index);
    return rules.map((rule) => `routes.${index}.${rule}`);
  });
}
