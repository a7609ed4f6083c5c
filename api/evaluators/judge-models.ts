/**
 * Refuses judges that no gateway could call: an unknown model, or one whose provider has no key for the organization. The
 * running gateways report the models that they can call; while none does, no judge is refused.
 */
import { LRUCache } from 'lru-cache';
import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type { ProviderName } from '#core/contracts/provider.ts';
import { type Catalog, createCatalog, readModelList } from '#core/models/mod.ts';
import { editDistance } from '#core/text/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { GatewayFacts } from '#platform/processes/mod.ts';
import { readUsable, usableProviders } from '../models/mod.ts';

/** @throws AssayError invalid_body with a sentence that begins with the path of `model` */
export type CheckJudgeModel = (judge: {
  organizationId: string;
  model: string;
  /** The path of the model in the body, such as `llm_template.model`. */
  path: string;
}) => Promise<void>;

/** Gateways of one service are configured alike, except for the minutes of a change. */
const MAX_GATEWAYS = 8;
/** Names that an error sentence suggests. */
const MAX_SUGGESTIONS = 3;

/** Creates the check; `sql` is under the role `assay_api`. */
export function createJudgeModelCheck({ sql }: { sql: Sql }): CheckJudgeModel {
  const known = new LRUCache<string, Gateway>({ max: MAX_GATEWAYS });

  function gatewayOf(facts: GatewayFacts): Gateway {
    const key = JSON.stringify(facts);
    const gateway = known.get(key) ?? new Gateway(facts);
    known.set(key, gateway);
    return gateway;
  }

  return async ({ organizationId, model, path }) => {
    const { facts, ownProviders } = await readUsable(sql, organizationId);
    const refusals = facts.map((one) => gatewayOf(one).refusal(model, ownProviders));
    // A gateway that is being replaced by one of another configuration still answers.
    if (refusals.includes(null)) return;
    const [refusal] = refusals;
    if (refusal !== undefined && refusal !== null) {
      throw new AssayError('invalid_body', `${path}${refusal.slice('model'.length)}`);
    }
  };
}

type Known = { provider: ProviderName; model: string };

/** The models that gateways of one configuration can call. */
class Gateway {
  readonly #facts: GatewayFacts;
  readonly #catalog: Catalog;
  readonly #groups: ReadonlyMap<string, string[]>;
  /** The models that have a bare name, listed at the first refusal. */
  #ids: { id: string; providers: ProviderName[] }[] | null = null;

  constructor(facts: GatewayFacts) {
    this.#facts = facts;
    this.#catalog = createCatalog({ models: facts.models, groups: facts.groups, source: '' });
    this.#groups = new Map(facts.groups.map(({ id, routes }) => [id, routes.map(({ model }) => model)]));
  }

  /** Returns the reason why a judge cannot be called, as a sentence that begins with `model`; null: it can be called. */
  refusal(model: string, ownProviders: ReadonlySet<ProviderName>): string | null {
    const find = (name: string) => this.#find(name, ownProviders);
    try {
      const found = readModelList(model, { find, groups: this.#groups });
      // The gateway needs a key for each model of a list before it calls the first.
      for (const group of found) if (Array.isArray(group)) group.forEach(find);
      return null;
    } catch (error) {
      if (error instanceof AssayError) return error.message;
      throw error;
    }
  }

  #find(name: string, ownProviders: ReadonlySet<ProviderName>): Known {
    const found = this.#catalog.providerOf(name);
    if (found === null) {
      const nearest = this.#nearest(name, ownProviders).map(quoteValue).join(', ');
      throw invalid(
        `${quoteValue(name)}, which no gateway here knows: use ${nearest === '' ? '' : `a known model such as ${nearest}, or `}provider/model`,
      );
    }
    const { provider } = found;
    const facts = this.#facts.providers[provider];
    if (facts === undefined) {
      throw invalid(
        `${quoteValue(name)} of the provider ${provider}, which has no address here: ${this.#allowed(ownProviders)}`,
      );
    }
    if (facts.isOpen || ownProviders.has(provider)) return found;
    throw invalid(
      `${quoteValue(name)} of the provider ${provider}, which has no key here: ${facts.keyVariable} is not set for the ` +
        `gateways, and your organization has stored none with PUT /v1/provider-keys/${provider}; ${this.#allowed(ownProviders)}`,
    );
  }

  #allowed(ownProviders: ReadonlySet<ProviderName>): string {
    const usable = usableProviders(this.#facts, ownProviders);
    return usable.length === 0 ? 'no provider can be called yet' : `use a model of ${usable.join(', ')}`;
  }

  /** Returns the usable names that are most like this one. */
  #nearest(name: string, ownProviders: ReadonlySet<ProviderName>): string[] {
    this.#ids ??= [
      ...this.#catalog.chatModels().map(({ id, provider }) => ({ id, providers: [provider] })),
      ...[...this.#groups].map(([id, models]) => ({ id, providers: models.flatMap(this.#providersOf) })),
    ];
    const usable = usableProviders(this.#facts, ownProviders);
    const asked = name.toLowerCase();
    return this.#ids
      .filter(({ providers }) => providers.every((provider) => usable.includes(provider)))
      .map(({ id }) => ({ id, distance: editDistance(asked, id.toLowerCase()) }))
      .sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1))
      .slice(0, MAX_SUGGESTIONS)
      .map(({ id }) => id);
  }

  #providersOf = (model: string): ProviderName[] => {
    const found = this.#catalog.providerOf(model);
    return found === null ? [] : [found.provider];
  };
}

function invalid(problem: string): AssayError {
  return new AssayError('invalid_body', `model names ${problem}`);
}
