import { type Config, PROVIDER_NAMES, type ProviderName } from '#platform/config/mod.ts';
import { openable } from './login-link.ts';

/** A model to try each provider with; null: its models are named by the operator. */
const MODELS_TO_TRY: Readonly<Record<ProviderName, string | null>> = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-sonnet-4-5',
  google: 'google/gemini-2.5-flash',
  mistral: 'mistral/mistral-small-latest',
  groq: 'groq/openai/gpt-oss-20b',
  deepseek: 'deepseek/deepseek-chat',
  xai: 'xai/grok-3-mini',
  together: 'together/meta-llama/Llama-3.3-70B-Instruct-Turbo',
  openrouter: 'openrouter/openai/gpt-4o-mini',
  azure: null,
  custom: null,
};

function curl(url: string, key: string, body: unknown): string {
  return [
    `  curl ${url} \\`,
    `    -H "Authorization: Bearer ${key}" \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -d '${JSON.stringify(body)}'`,
  ].join('\n');
}

export type GreetingOptions = {
  gateway: string;
  api: string;
  /** The key created by this start; null when one existed already. */
  newKey: string | null;
  providers: Config['providers'];
  /** Where the dashboard is, with a note for people; null: there is none. */
  dashboard: string | null;
};

/** Returns the text that `npm start` prints when everything runs. */
export function greeting(options: GreetingOptions): string {
  const gateway = openable(options.gateway);
  const api = openable(options.api);
  const key = options.newKey ?? '$ASSAY_API_KEY';
  const lines = ['', 'Assay is ready', '', `  gateway  ${gateway}/v1`, `  API      ${api}`];
  if (options.newKey !== null) lines.push(`  API key  ${options.newKey}   (shown this once: keep it)`);
  if (options.dashboard !== null) lines.push(`  dashboard  ${options.dashboard}`);
  const provider = PROVIDER_NAMES.find(
    (name) => options.providers[name].apiKey !== null && MODELS_TO_TRY[name] !== null,
  );
  if (provider === undefined) {
    lines.push(
      '',
      'Set OPENAI_API_KEY, or the key of another provider, to call a model; see what is logged:',
      '',
    );
    lines.push(curl(`${api}/v1/request/query`, key, { filter: 'all' }));
  } else {
    const messages = [{ role: 'user', content: 'Say hello' }];
    lines.push('', 'Call a model, then find the call:', '');
    lines.push(curl(`${gateway}/v1/chat/completions`, key, { model: MODELS_TO_TRY[provider], messages }), '');
    lines.push(curl(`${api}/v1/request/query`, key, { filter: 'all' }));
  }
  return `${lines.join('\n')}\n\n`;
}
