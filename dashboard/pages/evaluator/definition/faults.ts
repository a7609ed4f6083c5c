/** Which field of the form a refusal of the API is about: its sentence begins with the path of the value. Pure. */

export type FieldName =
  | 'name'
  | 'budget'
  | 'model'
  | 'prompt'
  | 'range'
  | 'choices'
  | 'examples'
  | 'categories'
  | 'threshold'
  | 'code'
  | 'limits'
  | 'url'
  | 'headers'
  | 'secret'
  | 'timeout'
  | 'metric'
  | 'apiKey'
  | 'scorer'
  | 'expected'
  | 'jury'
  | 'criteria'
  | 'scope';

/** The last part of a path, and of one with an index behind it, to the field. */
const FIELDS: readonly (readonly [RegExp, FieldName])[] = [
  [/^(?:evaluatorN|n)ame\b/, 'name'],
  [/^daily_budget_usd\b/, 'budget'],
  [/template\.model\b/, 'model'],
  [/template\.prompt\b/, 'prompt'],
  [/template\.(?:min|max)\b/, 'range'],
  [/template\.choices\b/, 'choices'],
  [/template\.examples\b/, 'examples'],
  [/template\.jury\b/, 'jury'],
  [/template\.criteria\b/, 'criteria'],
  [/^scope\b/, 'scope'],
  [/^(?:code_template\.)?categories\b/, 'categories'],
  [/^threshold\b/, 'threshold'],
  [/^(?:code_template\.)?limits\b/, 'limits'],
  [/^(?:code_template\.)?code\b/, 'code'],
  [/^external_config\.url\b/, 'url'],
  [/^external_config\.headers\b/, 'headers'],
  [/^external_config\.secret\b/, 'secret'],
  [/^external_config\.timeoutMs\b/, 'timeout'],
  [/^external_config\.(?:metric|metricId|projectId)\b/, 'metric'],
  [/^external_config\.apiKey\b/, 'apiKey'],
  [/^external_config\.scorer\b/, 'scorer'],
  [/^external_config\.(?:expected|expectedFrom)\b/, 'expected'],
];

/** Returns the field; null: the refusal is about none of them. */
export function fieldOf(message: string): FieldName | null {
  const [path = ''] = message.split(' ', 1);
  return FIELDS.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}

/** Returns the variables of a prompt as they are written between braces, each once, in their order. */
export function variablesOf(prompt: string): string[] {
  return [...new Set([...prompt.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, name]) => name!.trim()))];
}

/** Returns the variable that a refusal calls unknown; null: it does not. */
export function unknownVariable(message: string | null): string | null {
  return /unknown variable "\{\{(.*?)\}\}"/.exec(message ?? '')?.[1]?.trim() ?? null;
}
