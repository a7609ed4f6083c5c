/**
 * The list of models and single models, in OpenAI's form and in Anthropic's. All documents are written once and looked up,
 * except for pages of Anthropic's list and models that are not listed.
 */
import { createHash } from 'node:crypto';
import { AssayError } from '#core/contracts/errors.ts';
import { type CatalogModel, snapshotOf } from '#core/models/mod.ts';

/** A body and its entity tag: equal tags mean equal bytes. */
export type ModelDocument = { body: Buffer; etag: string };

export type Dialect = 'openai' | 'anthropic';

export type ModelLists = {
  /**
   * Returns all models. OpenAI's list is sorted by id and ignores parameters; Anthropic's has the newest first and takes
   * `limit`, `after_id` and `before_id`. Without them it is complete too.
   * @throws AssayError invalid_body for an invalid parameter
   */
  list(dialect: Dialect, parameters: URLSearchParams): ModelDocument;
  /** Returns one model. @throws AssayError model_not_found */
  one(dialect: Dialect, id: string): ModelDocument;
};

const MS_PER_SECOND = 1_000;
const ETAG_CHARACTERS = 27;
const LARGEST_PAGE = 1_000;
/** Characters of an unknown name that an error sentence repeats. */
const MAX_SHOWN_CHARACTERS = 80;

const PAGE_PARAMETERS = ['limit', 'after_id', 'before_id'] as const;

/**
 * Makes the lists.
 * @param models with unique ids
 * @param find describes a name that is not listed and that calls can have all the same; null: none such
 */
export function createModelLists(
  models: readonly CatalogModel[],
  find: (id: string) => CatalogModel | null,
): ModelLists {
  const byId = [...models].sort((a, b) => compare(a.id, b.id));
  const newestFirst = [...byId].sort((a, b) => b.created - a.created).map(anthropicEntry);
  const lists: Record<Dialect, ModelDocument> = {
    openai: toDocument({ object: 'list', data: byId.map(openAiEntry) }),
    anthropic: toDocument(page(newestFirst, 0, newestFirst.length)),
  };
  const entryOf = { openai: openAiEntry, anthropic: anthropicEntry };
  const single: Record<Dialect, Map<string, ModelDocument>> = {
    openai: new Map(byId.map((model) => [model.id, toDocument(openAiEntry(model))])),
    anthropic: new Map(byId.map((model) => [model.id, toDocument(anthropicEntry(model))])),
  };
  const known = new Map(models.map((model) => [model.id, model]));
  return {
    list: (dialect, parameters) =>
      dialect === 'anthropic' && PAGE_PARAMETERS.some((name) => parameters.has(name))
        ? toDocument(readPage(newestFirst, parameters))
        : lists[dialect],
    one: (dialect, id) => {
      const found = single[dialect].get(id);
      if (found !== undefined) return found;
      const unlisted = snapshotOf(id, (name) => known.get(name)) ?? find(id);
      if (unlisted !== null) return toDocument(entryOf[dialect](unlisted));
      const shown = id.length > MAX_SHOWN_CHARACTERS ? `${id.slice(0, MAX_SHOWN_CHARACTERS)}…` : id;
      throw new AssayError(
        'model_not_found',
        `The model '${shown}' does not exist here: GET /v1/models lists those that do`,
      );
    },
  };
}

/** Compares by code units, the order of a sort without a language. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function toDocument(value: unknown): ModelDocument {
  const body = Buffer.from(JSON.stringify(value));
  const hash = createHash('sha256').update(body).digest('base64url');
  return { body, etag: `"${hash.slice(0, ETAG_CHARACTERS)}"` };
}

function openAiEntry({ id, created, ownedBy }: CatalogModel) {
  return { id, object: 'model', created, owned_by: ownedBy };
}

type AnthropicEntry = { type: 'model'; id: string; display_name: string; created_at: string };

function anthropicEntry({ id, title, created }: CatalogModel): AnthropicEntry {
  const at = new Date(created * MS_PER_SECOND).toISOString().replace('.000Z', 'Z');
  return { type: 'model', id, display_name: title, created_at: at };
}

function page(entries: readonly AnthropicEntry[], first: number, end: number, hasMore = false) {
  const data = entries.slice(first, end);
  return {
    data,
    first_id: data[0]?.id ?? null,
    has_more: hasMore,
    last_id: data.at(-1)?.id ?? null,
  };
}

/** Returns a page: the first models after an id, or the last ones before it. */
function readPage(entries: readonly AnthropicEntry[], parameters: URLSearchParams) {
  const limit = readLimit(parameters.get('limit'));
  const [afterId, beforeId] = [parameters.get('after_id'), parameters.get('before_id')];
  if (afterId !== null && beforeId !== null) {
    throw new AssayError('invalid_body', 'after_id and before_id exclude each other');
  }
  if (beforeId !== null) {
    const end = positionOf(entries, 'before_id', beforeId);
    const first = Math.max(0, end - limit);
    return page(entries, first, end, first > 0);
  }
  const first = afterId === null ? 0 : positionOf(entries, 'after_id', afterId) + 1;
  return page(entries, first, first + limit, first + limit < entries.length);
}

function readLimit(text: string | null): number {
  if (text === null) return LARGEST_PAGE;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LARGEST_PAGE) return limit;
  throw new AssayError(
    'invalid_body',
    `limit must be a whole number from 1 to ${LARGEST_PAGE}, but is ${JSON.stringify(text.slice(0, MAX_SHOWN_CHARACTERS))}`,
  );
}

function positionOf(entries: readonly AnthropicEntry[], name: string, id: string): number {
  const position = entries.findIndex((entry) => entry.id === id);
  if (position >= 0) return position;
  const shown = JSON.stringify(id.slice(0, MAX_SHOWN_CHARACTERS));
  throw new AssayError('invalid_body', `${name} must be the id of a model of this list, but is ${shown}`);
}
