/** Which provider a model name means, and where that provider's chat completions are. */
import { LRUCache } from 'lru-cache';
import { PROVIDER_NAMES, type ProviderConfig, type ProviderName } from '#core/config/mod.ts';
import { AssayError } from '#core/errors.ts';
import { knowsModel } from '#core/pricing/mod.ts';
import { OPENAI_DIALECT, type OpenAiDialectProvider } from './registry.ts';

export type Route = {
  provider: ProviderName;
  dialect: OpenAiDialectProvider;
  /** The model name as the provider knows it. */
  model: string;
  /** Scheme, host and port. */
  origin: string;
  /** Path of the provider's chat completions. */
  path: string;
  /** The operator's key; null when only the caller's own can be used. */
  apiKey: string | null;
};

/** Whose catalog is asked first for a bare model name: authors before those who host others' models. */
const CATALOG_ORDER: ProviderName[] = [
  'openai',
  'anthropic',
  'google',
  'mistral',
  'deepseek',
  'xai',
  'groq',
  'together',
  'openrouter',
];

const ROUTES_KEPT = 2_000;
const LONGEST_MODEL_NAME = 256;

function isProviderName(name: string): name is ProviderName {
  return (PROVIDER_NAMES as readonly string[]).includes(name);
}

/** Azure's endpoint is a bare host in its portal; its OpenAI dialect lies below /openai/v1. */
function baseUrlOf(provider: ProviderName, configured: string): string {
  const isBareAzure = provider === 'azure' && new URL(configured).pathname === '/';
  return isBareAzure ? `${configured.replace(/\/$/, '')}/openai/v1` : configured.replace(/\/$/, '');
}

/**
 * Makes the function that routes model names: a catalog id (`gpt-4o-mini`) or `provider/model`. Answers are kept, as
 * the registry's patterns cost more than the rest of the request.
 *
 * The returned function throws AssayError model_not_found or provider_not_configured.
 */
export function createRouter(providers: Record<ProviderName, ProviderConfig>): (model: string) => Route {
  const known = new LRUCache<string, Route>({ max: ROUTES_KEPT });
  return (model) => {
    const kept = known.get(model);
    if (kept !== undefined) return kept;
    const route = findRoute(model, providers);
    known.set(model, route);
    return route;
  };
}

function findRoute(asked: string, providers: Record<ProviderName, ProviderConfig>): Route {
  if (asked.length > LONGEST_MODEL_NAME) throw unknownModel(`${asked.slice(0, 40)}…`);
  const slash = asked.indexOf('/');
  const prefix = slash > 0 ? asked.slice(0, slash).toLowerCase() : '';
  const isExplicit = isProviderName(prefix) && slash < asked.length - 1;
  const provider = isExplicit ? prefix : findInCatalog(asked);
  if (provider === null) throw unknownModel(asked);
  const dialect = OPENAI_DIALECT[provider];
  if (dialect === undefined) {
    throw new AssayError(
      'model_not_found',
      `The model '${asked}' belongs to ${provider}, whose dialect this gateway does not translate yet`,
    );
  }
  const configured = providers[provider];
  const address = configured.baseUrl ?? dialect.baseUrl;
  if (address === null) {
    const variable = provider === 'azure' ? 'AZURE_OPENAI_ENDPOINT' : `${provider.toUpperCase()}_BASE_URL`;
    throw new AssayError(
      'provider_not_configured',
      `The model '${asked}' needs the provider ${provider}, which has no address here: ${variable} is not set`,
    );
  }
  const url = new URL(`${baseUrlOf(provider, address)}/chat/completions`);
  return {
    provider,
    dialect,
    model: isExplicit ? asked.slice(slash + 1) : asked,
    origin: url.origin,
    path: url.pathname + url.search,
    apiKey: configured.apiKey,
  };
}

function findInCatalog(model: string): ProviderName | null {
  // Fine-tuned models are OpenAI's and in no catalog.
  if (model.startsWith('ft:')) return 'openai';
  return CATALOG_ORDER.find((provider) => knowsModel(provider, model)) ?? null;
}

function unknownModel(model: string): AssayError {
  return new AssayError(
    'model_not_found',
    `The model '${model}' does not exist here: use a catalog id such as gpt-4o-mini, or provider/model`,
  );
}
