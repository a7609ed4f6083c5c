/** The maker of a model, whichever provider hosts it. */
import type { ProviderName } from '../contracts/provider.ts';

/** Makers by the names of models. */
export type Makers = {
  /** By the author in a host's name for a model, where the author is not the maker's name. */
  authors: Readonly<Record<string, string>>;
  /** By a regular expression for the names of a family, for names without an author; the first match counts. */
  families: Readonly<Record<string, string>>;
};

/** Providers that serve models of other makers. */
const HOSTS: ReadonlySet<ProviderName> = new Set(['groq', 'together', 'openrouter', 'azure', 'custom']);

/**
 * Returns the organization that made a model, in lower case; the provider when the name does not identify the maker.
 * @param model the model's name at the provider
 */
export type MakerOf = (provider: ProviderName, model: string) => string;

/** Makes the look-up of makers. */
export function createMakerOf(makers: Makers): MakerOf {
  const authors = new Map(Object.entries(makers.authors));
  const families = Object.entries(makers.families).map(
    ([pattern, maker]) => [new RegExp(pattern), maker] as const,
  );
  return (provider, model) => {
    if (!HOSTS.has(provider)) return provider;
    const name = model.toLowerCase();
    const slash = name.lastIndexOf('/');
    const author = slash > 0 ? name.slice(0, slash).split('/').at(-1) : undefined;
    if (author !== undefined) return authors.get(author) ?? author;
    return families.find(([family]) => family.test(name))?.[1] ?? provider;
  };
}
