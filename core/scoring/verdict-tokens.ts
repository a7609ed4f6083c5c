/** The most tokens of a judge's answer: a reasoning and a score take a few hundred; the rest lets models think first. */
export const MAX_VERDICT_TOKENS = 2_048;
