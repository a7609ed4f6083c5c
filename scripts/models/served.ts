/**
 * The models of the registry that serve chat completions. The registry keeps every model that was ever priced, under every
 * name that any host or library gave it, and says nothing of endpoints: these rules do, as of 2026-11-21. Where a rule is a
 * list of names, its source stands beside it; models that models.dev no longer had on 2026-08-18 are left out too. A model
 * that is left out by mistake can still be called: it is only missing from the list.
 */
import type { ProviderName } from '#core/contracts/provider.ts';

/** Words in the names of models for audio, images, embeddings, ranking, moderation or OCR, whoever made them. */
const NOT_CHAT =
  /embed|rerank|moderation|guard|safeguard|content-safety|whisper|transcribe|\btts\b|audio|voice|voxtral-mini|realtime|\blive\b|native-audio|image|imagine|video|\bveo\b|lyria|\bocr\b|dall-e|\bsora\b|omni|computer-use|deep-research/i;

type Rules = {
  /** The pattern of the provider's own names, if the registry has names of other hosts too. */
  names?: RegExp;
  /** Models of the provider that do not serve chat completions. */
  notChat?: RegExp;
  /** Models that were shut down. */
  retired?: RegExp;
};

const RULES: Partial<Record<ProviderName, Rules>> = {
  openai: {
    // Excludes names of Azure (gpt-35-turbo), OpenRouter (o3-mini-high, gpt-4o:extended), and hosts of the open weights.
    names: /^(?:gpt-(?!35|oss|\d-\d(?!\d))|o\d)(?!.*(?:-high$|:|\.ft-))/,
    // The pro and codex models answer to Responses alone, instruct to completions; the others are no names of the API.
    notChat: /-pro\b|codex|instruct|^gpt-5\.1-mini$|^gpt-5\.3$|^gpt-5(?:\.\d)?-chat$/,
    // developers.openai.com/api/docs/deprecations
    retired:
      /^gpt-(?:3\.5|4$|4-|4\.1-nano|4\.5|4o-2024-05-13|4o(?:-mini)?-search|5(?:\.\d)?-chat)|^o1|^o3-mini|^o4-mini/,
  },
  anthropic: {
    // platform.claude.com/docs/en/about-claude/model-deprecations
    retired: /^claude-(?:v?[12]|instant|3|(?:opus|sonnet)-4(?:-[01])?(?:-20\d+)?$)/,
  },
  google: {
    // Excludes names of Vertex AI (claude-…) and OpenRouter (gemini-flash-1.5, gemini-pro).
    names: /^gemini-\d(?!.*-latest$)/,
    // ai.google.dev/gemini-api/docs/deprecations
    retired: /^gemini-(?:1|2\.0|2\.5.*preview|3-pro-preview|3-pro-text|3\.1-flash-lite-preview)/,
  },
  // Its own names carry a version or -latest; others are those of open weights at other hosts.
  mistral: {
    names: /^(?!.*(?:-instruct-|voxtral-small-24b))(?:[a-z0-9-]+-(?:\d{4}|latest)|open-[a-z0-9-]+)$/,
    // docs.mistral.ai, models overview, legacy models; of open-… no two sources agree.
    retired:
      /^(?:labs-|devstral|codestral-2501|mistral-(?:medium-2312|large-2407|saba)|ministral-8b-2410|pixtral-12b|open-)/,
  },
  // Two aliases and the versions since 4; the rest are names of other hosts.
  deepseek: { names: /^deepseek-(?:chat|reasoner|v[4-9][a-z-]*)$/ },
  xai: {
    names: /^grok-/,
    // docs.x.ai/developers/migration/may-15-retirement, and before it grok-2.
    retired: /^grok-(?:2|3|4(?:-|$)|code|latest)/,
  },
  // Groq: none. Its last models with a bare id were shut down on 2026-08-16 (console.groq.com/docs/deprecations); the
  // others begin with another provider's name, so they need groq/ before it.
  // Together changes what it serves monthly: what it served on 2026-08-18, by models.dev.
  together: { names: /^meta-llama\/(?:Llama-3\.3-70B-Instruct-Turbo|Meta-Llama-3-8B-Instruct-Lite)$/ },
  // An OpenRouter id is author/slug; a tag behind a colon is a variant of one.
  openrouter: { names: /^[^~/:]+\/[^/:]+$/, retired: /^x-ai\/grok-(?:4-fast|code)/ },
};

/** Returns whether a provider's chat completions know this name of the registry. */
export function isServed(provider: ProviderName, name: string): boolean {
  const rules = RULES[provider];
  if (rules === undefined || NOT_CHAT.test(name)) return false;
  if (rules.names !== undefined && !rules.names.test(name)) return false;
  return !(rules.notChat?.test(name) || rules.retired?.test(name));
}
