/**
 * The format of MODELS_FILE: models and prices that the operator adds to the registry's or replaces them with, and groups
 * of models that share calls. The catalog uses the models, gateway/routing the groups.
 */
import { createHash } from 'node:crypto';
import { type Static, Type } from '@sinclair/typebox';
import { Compile, explain } from '../../contracts/check.ts';
import { PROVIDER_NAMES } from '../../contracts/provider.ts';
import { closed } from '../../contracts/shapes.ts';
import { secondsOfDate } from '../date.ts';

/** Characters of a name, which is part of URLs and response headers. */
const LONGEST_NAME = 256;
const MAX_MODELS = 5_000;
const MAX_GROUPS = 1_000;
/** One call may attempt every route up to six times, and its record lists all attempts. */
export const MAX_GROUP_ROUTES = 10;
/** Weights are written as shares of ten, a hundred or a thousand. */
const MAX_WEIGHT = 1_000_000;
/** USD for a million tokens: more is a typing error, not a price. */
const MAX_USD = 1_000_000;
/** More decimals are a typing error too, and would make the arithmetic inexact. */
const DECIMAL = /^\d+(?:\.\d{1,6})?$/;
/** Problems reported at once; nobody reads more. */
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

/** A model of the file; prices in USD for a million tokens. */
export type OperatorModel = Static<typeof Model>;

/** A name for several models: each call is routed to one of them by weight. A missing weight is 1. */
export type OperatorGroup = Static<typeof Group>;

/** The contents of the file. */
export type OperatorModels = {
  models: OperatorModel[];
  groups: OperatorGroup[];
  /** The name of this price list, stored with costs: `models-file@` and the beginning of the file's SHA-256. */
  source: string;
};

/** The result of reading the file: its contents, or sentences about its problems. */
export type ModelsFileResult = { ok: true; value: OperatorModels } | { ok: false; problems: string[] };

const checker = Compile(File);

/** Reads the text of the file. Problems are sentences without a subject, at most 20. */
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

/** Returns one problem for each place: the checker reports a missing field twice. */
function shapeProblems(value: unknown): string[] {
  const byPlace = new Map<string, string>();
  for (const error of checker.Errors(value)) {
    if (byPlace.size === MAX_PROBLEMS) break;
    if (!byPlace.has(error.path)) byPlace.set(error.path, explain(error));
  }
  return [...byPlace.values()];
}

/** Checks the rules for models that a schema cannot express. */
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
  // A comma separates the models of a list.
  if (name === undefined || !/[^\x21-\x7e]|,/.test(name)) return [];
  return [`${field} must be printable ASCII without spaces and commas, but is ${JSON.stringify(name)}`];
}

/** Returns the provider that an id begins with, as in `openai/gpt-4o`; null: none. */
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

/** Checks the rules for groups that a schema cannot express. */
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
