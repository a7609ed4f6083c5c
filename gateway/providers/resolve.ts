/** Resolves a model name to a candidate: a provider, its address, and the model as the provider names it. */
import { LRUCache } from 'lru-cache';
import { AssayError } from '#core/contracts/errors.ts';
import { BUILT_IN_CATALOG, type Catalog } from '#core/models/mod.ts';
import type { ProviderConfig, ProviderName } from '#platform/config/mod.ts';
import { PROVIDERS, type ProviderEndpoint, type ProviderRow } from './registry.ts';

export type Candidate = {
  provider: ProviderName;
  row: ProviderRow;
  /** The model as the provider names it. */
  model: string;
  /** Scheme, host and port. */
  origin: string;
  /** Paths of the provider's endpoints. */
  paths: Readonly<Partial<Record<ProviderEndpoint, string>>>;
  /** The operator's key; null: none. */
  apiKey: string | null;
};

const CANDIDATES_KEPT = 2_000;
const LONGEST_MODEL_NAME = 256;

/** Returns the base URL. Azure's portal shows the bare host; the OpenAI dialect is below /openai/v1. */
function baseUrlOf(provider: ProviderName, configured: string): string {
  const isBareAzure = provider === 'azure' && new URL(configured).pathname === '/';
  return isBareAzure ? `${configured.replace(/\/$/, '')}/openai/v1` : configured.replace(/\/$/, '');
}

/**
 * Makes the function that resolves model names: a catalog id (`gpt-4o-mini`) or `provider/model`. Results are cached,
 * because the catalog's patterns cost more than the rest of a call.
 *
 * The returned function throws AssayError model_not_found or provider_not_configured.
 */
export function createResolver(
  providers: Record<ProviderName, ProviderConfig>,
  catalog: Pick<Catalog, 'providerOf'> = BUILT_IN_CATALOG,
): (model: string) => Candidate {
  const known = new LRUCache<string, Candidate>({ max: CANDIDATES_KEPT });
  return (model) => {
    const kept = known.get(model);
    if (kept !== undefined) return kept;
    const candidate = findCandidate(model, providers, catalog);
    known.set(model, candidate);
    return candidate;
  };
}

function findCandidate(
  name: string,
  providers: Record<ProviderName, ProviderConfig>,
  catalog: Pick<Catalog, 'providerOf'>,
): Candidate {
  if (name.length > LONGEST_MODEL_NAME) throw unknownModel(`${name.slice(0, 40)}…`);
  const found = catalog.providerOf(name);
  if (found === null) throw unknownModel(name);
  const { provider, model } = found;
  const row = PROVIDERS[provider];
  const configured = providers[provider];
  const address = configured.baseUrl ?? row.baseUrl;
  if (address === null) {
    const variable = provider === 'azure' ? 'AZURE_OPENAI_ENDPOINT' : `${provider.toUpperCase()}_BASE_URL`;
    throw new AssayError(
      'provider_not_configured',
      `The model '${name}' needs the provider ${provider}, which has no address here: ${variable} is not set`,
    );
  }
  const { apiKey, apiVersion } = configured;
  if (apiVersion !== null) return deploymentCandidate({ provider, row, model, apiKey, address, apiVersion });
  const { origin, pathname, search } = new URL(baseUrlOf(provider, address));
  const base = pathname.replace(/\/$/, '');
  const paths = pathsOf(row, Object.keys(row.paths), (path) => `${base}${path}${search}`);
  return { provider, row, model, origin, paths, apiKey };
}

function pathsOf(
  row: ProviderRow,
  endpoints: readonly string[],
  place: (path: string) => string,
): Candidate['paths'] {
  const known = endpoints.flatMap((endpoint) => {
    const path = row.paths[endpoint as ProviderEndpoint];
    return path === undefined ? [] : [[endpoint, place(path)]];
  });
  return Object.fromEntries(known);
}

/** The provider endpoints below the address of an Azure deployment. */
const DEPLOYMENT_ENDPOINTS: readonly ProviderEndpoint[] = ['chat', 'completions', 'embeddings'];
/** Azure refused `stream_options` before this version. */
const FIRST_VERSION_WITH_USAGE = '2024-09-01';

type DeploymentOptions = Pick<Candidate, 'provider' | 'row' | 'model' | 'apiKey'> & {
  address: string;
  apiVersion: string;
};

/** Returns a candidate of Azure's older API, which has the deployment and the version in the address. */
function deploymentCandidate({ address, apiVersion, row, model, ...rest }: DeploymentOptions): Candidate {
  const { origin, pathname } = new URL(address);
  const base = pathname.replace(/\/(?:openai(?:\/v1)?\/?)?$/, '');
  const deployment = `${base}/openai/deployments/${encodeURIComponent(model)}`;
  const paths = pathsOf(
    row,
    DEPLOYMENT_ENDPOINTS,
    (path) => `${deployment}${path}?api-version=${apiVersion}`,
  );
  const takesUsageOption = apiVersion >= FIRST_VERSION_WITH_USAGE;
  return { ...rest, model, origin, paths, row: { ...row, takesUsageOption } };
}

function unknownModel(model: string): AssayError {
  return new AssayError(
    'model_not_found',
    `The model '${model}' does not exist here: use a catalog id such as gpt-4o-mini, or provider/model`,
  );
}
