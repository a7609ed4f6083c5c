/** The maker of a model, whichever provider hosts it. */
import type { ProviderName } from '../contracts/provider.ts';

/** Providers that serve models of other makers. */
const HOSTS: ReadonlySet<ProviderName> = new Set(['groq', 'together', 'openrouter', 'azure', 'custom']);

/** Authors as hosts write them, where the maker is called otherwise here. */
const MAKERS: Record<string, string> = {
  'meta-llama': 'meta',
  mistralai: 'mistral',
  'x-ai': 'xai',
  'deepseek-ai': 'deepseek',
  qwen: 'alibaba',
  'z-ai': 'zhipu',
  'zai-org': 'zhipu',
  thudm: 'zhipu',
  minimaxai: 'minimax',
  'bytedance-seed': 'bytedance',
  'ibm-granite': 'ibm',
  'arcee-ai': 'arcee',
};

/** Families whose name tells the maker where a host names no author. */
const FAMILIES: [RegExp, string][] = [
  [/^(?:meta-)?llama|^codellama/, 'meta'],
  [/^gpt|^o\d|^chatgpt/, 'openai'],
  [/^claude/, 'anthropic'],
  [/^gem(?:ini|ma)/, 'google'],
  [/^(?:mi|minis|mixs?|codes|devs|magis|pixs?)tral/, 'mistral'],
  [/^deepseek/, 'deepseek'],
  [/^grok/, 'xai'],
  [/^qw(?:en|q)/, 'alibaba'],
  [/^kimi/, 'moonshotai'],
  [/^glm/, 'zhipu'],
  [/^phi-/, 'microsoft'],
];

/** Returns the organization that made a model, in lower case; where its name does not tell, the provider. */
export function makerOf(provider: ProviderName, model: string): string {
  if (!HOSTS.has(provider)) return provider;
  const name = model.toLowerCase();
  const slash = name.lastIndexOf('/');
  const author = slash > 0 ? name.slice(0, slash).split('/').at(-1) : undefined;
  if (author !== undefined) return MAKERS[author] ?? author;
  return FAMILIES.find(([family]) => family.test(name))?.[1] ?? provider;
}
