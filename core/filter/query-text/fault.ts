/** Mistakes in a text, with their places. */
import { AssayError } from '../../contracts/errors.ts';
import { quoteValue } from '../../contracts/quote-value.ts';
import type { Span } from './token.ts';

/** Error at a place in the text. The message names the place, the broken rule, and what is allowed. */
export class QueryTextError extends AssayError {
  readonly offset: number;
  readonly length: number;
  /** The rule and what is allowed, without the place. */
  readonly rule: string;

  constructor(text: string, { offset, length }: Span, rule: string) {
    const token = length === 0 ? 'its end' : quoteValue(text.slice(offset, offset + length));
    super('invalid_filter', `q at offset ${offset}, length ${length} (${token}): ${rule}`);
    this.name = 'QueryTextError';
    this.offset = offset;
    this.length = length;
    this.rule = rule;
  }
}
