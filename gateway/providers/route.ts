/** Which provider a model name means, and where that provider is. */
import { LRUCache } from 'lru-cache';
import { BUILT_IN_CATALOG, type Catalog } from '#core/catalog/mod.ts';
import type { ProviderConfig, ProviderName } from '#core/config/mod.ts';
import { AssayError } from '#core/errors.ts';
import { type Endpoint, PROVIDERS, type ProviderRow } from './registry.ts';

export type Route = {
  provider: ProviderName;
  row: ProviderRow;
  /** The model name as the provider knows it. */
  model: string;
  /** Scheme, host and port. */
  origin: string;
  /** Paths of the provider's endpoints. */
  paths: Readonly<Partial<Record<Endpoint, string>>>;
  /** The operator's key; null when only the caller's own can be used. */
  apiKey: string | null;
};

const ROUTES_KEPT = 2_000;
const LONGEST_MODEL_NAME = 256;

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
export function createRouter(
  providers: Record<ProviderName, ProviderConfig>,
  catalog: Pick<Catalog, 'providerOf'> = BUILT_IN_CATALOG,
): (model: string) => Route {
  const known = new LRUCache<string, Route>({ max: ROUTES_KEPT });
  return (model) => {
    const kept = known.get(model);
    if (kept !== undefined) return kept;
    const route = findRoute(model, providers, catalog);
    known.set(model, route);
    return route;
  };
}

function findRoute(
  asked: string,
  providers: Record<ProviderName, ProviderConfig>,
  catalog: Pick<Catalog, 'providerOf'>,
): Route {
  if (asked.length > LONGEST_MODEL_NAME) throw unknownModel(`${asked.slice(0, 40)}…`);
  const found = catalog.providerOf(asked);
  if (found === null) throw unknownModel(asked);
  const { provider, model } = found;
  const row = PROVIDERS[provider];
  const configured = providers[provider];
  const address = configured.baseUrl ?? row.baseUrl;
  if (address === null) {
    const variable = provider === 'azure' ? 'AZURE_OPENAI_ENDPOINT' : `${provider.toUpperCase()}_BASE_URL`;
    throw new AssayError(
      'provider_not_configured',
      `The model '${asked}' needs the provider ${provider}, which has no address here: ${variable} is not set`,
    );
  }
  const { origin, pathname, search } = new URL(baseUrlOf(provider, address));
  const base = pathname.replace(/\/$/, '');
  const paths = Object.entries(row.paths).map(([endpoint, path]) => [endpoint, `${base}${path}${search}`]);
  return {
    provider,
    row,
    model,
    origin,
    paths: Object.fromEntries(paths),
    apiKey: configured.apiKey,
  };
}

function unknownModel(model: string): AssayError {
  return new AssayError(
    'model_not_found',
    `The model '${model}' does not exist here: use a catalog id such as gpt-4o-mini, or provider/model`,
  );
}
