/** A value as the tree shows it. */
import type { Step } from './path.ts';

export type ValueType = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** A value in a body. */
export type JsonNode = {
  /** The last step of its path. */
  step: Step;
  /** Its name as it is shown: the beginning of a long one. */
  name: string;
  type: ValueType;
  /** Members, or UTF-16 code units of a string; otherwise 0. */
  size: number;
  /** The value, or the beginning of a long string; empty for objects and arrays. */
  text: string;
};
