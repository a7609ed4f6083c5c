import type { Conversation, Effort } from './conversation.ts';

/** Smallest budgets of thinking, in tokens, for these levels of effort: the reverse of `BUDGETS` in ./messages. */
const HIGH_BUDGET = 16_384;
const MEDIUM_BUDGET = 4_096;

/** OpenAI's models that take the effort `none`: those since GPT-5.1, but not their kinds that always reason, or never. */
const TAKES_NONE = /^gpt-5\.\d(?!.*-(?:chat|codex|pro))/;

/** Efforts as a provider's row describes them, and the model as the provider names it. */
export type EffortOptions = { model: string; highestEffort: 'high' | 'max'; effortModels: RegExp | null };

/**
 * Returns thinking as an effort, the only setting of OpenAI's dialects. Null: it is left to the model, as adaptive thinking without an
 * effort is, and no thinking where the model has no effort for it. So are efforts of models that have none: coding agents send one
 * with every call.
 */
export function effortOf(
  { effort, thinking }: Pick<Conversation, 'effort' | 'thinking'>,
  { model, highestEffort: highest, effortModels }: EffortOptions,
): Effort | null {
  if (effortModels?.test(model) === false) return null;
  // Effort is more than thinking at Anthropic: without thinking, it shapes the answer alone.
  if (thinking?.type === 'disabled' && TAKES_NONE.test(model)) return 'none';
  if (effort !== null) return highest === 'high' ? atMostHigh(effort) : effort;
  const budget = thinking?.type === 'enabled' ? thinking.budget_tokens : null;
  if (typeof budget !== 'number') return null;
  return budget >= HIGH_BUDGET ? 'high' : budget >= MEDIUM_BUDGET ? 'medium' : 'low';
}

function atMostHigh(effort: Effort): Effort {
  return effort === 'xhigh' || effort === 'max' ? 'high' : effort;
}
