/** The differences between Claude models that a translation depends on. */
export type ModelTraits = {
  /** Takes `output_config.format` and `strict` tools: https://platform.claude.com/docs/en/build-with-claude/structured-outputs */
  hasStructuredOutputs: boolean;
  /** Takes `thinking: {type: 'adaptive'}` with `output_config.effort`; older models take a budget of tokens. */
  thinksAdaptively: boolean;
};

/** `claude-opus-4-5-20251101`, `claude-3-7-sonnet-latest`: family and version in either order; a date is not a version. */
const NEW_ORDER = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?![\d.])/;
const OLD_ORDER = /claude-(\d)(?:[-.](\d))?-([a-z]+)/;

/** Returns the traits of a model by its id. An unknown model counts as newer than all known ones. */
export function traitsOf(model: string): ModelTraits {
  const version = versionOf(model);
  return {
    hasStructuredOutputs: version >= 405,
    thinksAdaptively: version >= 406,
  };
}

/** Returns 405 for 4.5, so that 4.10 is above 4.9. */
function versionOf(model: string): number {
  const older = OLD_ORDER.exec(model);
  if (older !== null) return 100 * Number(older[1]) + Number(older[2] ?? 0);
  const newer = NEW_ORDER.exec(model);
  if (newer !== null) return 100 * Number(newer[2]) + Number(newer[3] ?? 0);
  return Number.POSITIVE_INFINITY;
}
