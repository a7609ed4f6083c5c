/**
 * Reads a query's text: `status:>=500 (model:gpt-4o* OR user:bot) -feedback:true "refund policy"`. By recursive descent over
 * the characters, each of which is looked at a bounded number of times. A NOT is carried down to the conditions, whose
 * operators have exact complements, so the filter has no negation.
 */
import { AssayError } from '../../contracts/errors.ts';
import { MAX_DEPTH, MAX_LEAVES } from '../limits.ts';
import { QueryTextError } from './fault.ts';
import { type Expression, joined } from './join.ts';
import type { NamedField } from './names.ts';
import { type Reading, readFieldName, readFieldValue, readHas, readText } from './terms.ts';
import type { QueryToken, Span, TokenKind } from './token.ts';
import type { FilterTree } from './tree.ts';
import { isBoundary, isSpace } from './words.ts';

/** UTF-16 code units: one text of the longest that filters allow, with every character escaped, and other conditions. */
export const MAX_QUERY_LENGTH = 65_536;

/** A text as it was read: its tokens up to the mistake, if there is one. */
export type ReadQuery = {
  readonly tokens: readonly QueryToken[];
  readonly filter: FilterTree | null;
  readonly error: QueryTextError | null;
};

/**
 * Returns the filter that a text stands for, as JSON that `parseFilter` accepts. A text of nothing but spaces is `"all"`.
 * @throws QueryTextError, an AssayError invalid_filter
 */
export function parseQuery(text: string): FilterTree {
  return new Parser(text).parse();
}

/**
 * Reads a text while it is being written: for its colours, and for a mistake under its token. Never throws.
 */
export function readQueryText(text: string): ReadQuery {
  const parser = new Parser(text);
  try {
    const filter = parser.parse();
    return { tokens: parser.tokens, filter, error: null };
  } catch (error) {
    if (!(error instanceof QueryTextError)) throw error;
    return { tokens: parser.tokens, filter: null, error };
  }
}

/** Position of a term: behind `field:(`, and under a NOT. */
type Context = { readonly field: NamedField | null; readonly isNot: boolean };

const KEYWORDS = [
  ['AND', 'and'],
  ['OR', 'or'],
  ['NOT', 'not'],
] as const;
const CONDITIONS = 'a condition like status:>=500, a text, or a group in parentheses';

class Parser implements Reading {
  readonly text: string;
  readonly tokens: QueryToken[] = [];
  at = 0;
  #leaves = 0;
  #depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  parse(): FilterTree {
    const { text } = this;
    if (text.length > MAX_QUERY_LENGTH) {
      const span = { offset: MAX_QUERY_LENGTH, length: text.length - MAX_QUERY_LENGTH };
      this.fail(`a query must have at most ${MAX_QUERY_LENGTH} characters, but has ${text.length}`, span);
    }
    this.#skipSpace();
    if (this.#isOver()) return 'all';
    const expression = this.#readAlternatives({ field: null, isNot: false });
    if (!this.#isOver()) this.fail('closes no parenthesis', this.#spanOf(1));
    return joined(expression) ?? this.fail(`must be at most ${MAX_DEPTH} branches deep`, this.#whole());
  }

  fail(rule: string, span: Span): never {
    throw new QueryTextError(this.text, span, rule);
  }

  push(kind: TokenKind, span: Span): void {
    if (span.length > 0) this.tokens.push({ kind, offset: span.offset, length: span.length });
  }

  countLeaf(span: Span): void {
    this.#leaves += 1;
    if (this.#leaves > MAX_LEAVES)
      this.fail(`a query must have at most ${MAX_LEAVES} conditions, of which a text alone is four`, span);
  }

  /** Runs a check of the filter language, whose error gets the place of the word that it is about. */
  checked<T>(span: Span, check: () => T, hint = ''): T {
    try {
      return check();
    } catch (error) {
      if (error instanceof AssayError) return this.fail(error.message + hint, span);
      throw error;
    }
  }

  /** Reads conditions joined by OR. */
  #readAlternatives(context: Context): Expression {
    const items = [this.#readSequence(context)];
    while (this.#keyword() === 'or') {
      this.#takeKeyword('or');
      items.push(this.#readSequence(context));
    }
    return listOf(context.isNot ? 'and' : 'or', items);
  }

  /** Reads conditions beside each other, or joined by AND. */
  #readSequence(context: Context): Expression {
    const items = [this.#readTerm(context)];
    for (this.#skipSpace(); !this.#isOver() && this.text[this.at] !== ')'; this.#skipSpace()) {
      const keyword = this.#keyword();
      if (keyword === 'or') break;
      if (keyword === 'and') this.#takeKeyword('and');
      items.push(this.#readTerm(context));
    }
    return listOf(context.isNot ? 'or' : 'and', items);
  }

  #readTerm(context: Context): Expression {
    let { isNot } = context;
    for (this.#skipSpace(); this.#takeNot(context); ) isNot = !isNot;
    const inner = { field: context.field, isNot };
    const { text, at } = this;
    const keyword = this.#keyword();
    if (this.#isOver() || text[at] === ')' || keyword !== null)
      this.fail(`here must be ${CONDITIONS}`, this.#spanOf(this.#isOver() ? 0 : (keyword?.length ?? 1)));
    const term = text[at] === '(' ? this.#readGroup(inner) : this.#readCondition(inner);
    if (!this.#isOver() && text[this.at] !== ')' && !isSpace(text, this.at))
      this.fail(
        'must have a space before it; a parenthesis in a text needs quotation marks',
        this.#spanOf(1),
      );
    return term;
  }

  #readGroup(context: Context): Expression {
    const opening = this.#spanOf(1);
    if (this.#depth === MAX_DEPTH) this.fail(`must be at most ${MAX_DEPTH} parentheses deep`, opening);
    this.#depth += 1;
    this.#take('open', 1);
    const inner = this.#readAlternatives(context);
    if (this.#isOver()) this.fail('the parenthesis is not closed', opening);
    this.#take('close', 1);
    this.#depth -= 1;
    return inner;
  }

  #readCondition(context: Context): Expression {
    if (context.field !== null) return readFieldValue(this, context.field, context.isNot, this.at);
    const name = readFieldName(this);
    if (name === null) return readText(this, context.isNot);
    if (name === 'has') return readHas(this, context.isNot);
    const colon = this.at;
    if (this.text[colon + 1] !== '(') return readFieldValue(this, name, context.isNot, colon);
    this.#take('operator', 1);
    return this.#readGroup({ field: name, isNot: context.isNot });
  }

  /** Takes a `-` or a NOT. Returns whether there was one. */
  #takeNot({ field }: Context): boolean {
    if (this.#keyword() === 'not') {
      this.#takeKeyword('not');
      return true;
    }
    const { text, at } = this;
    if (text[at] !== '-' || (field !== null && isNegativeNumber(text, at, field))) return false;
    if (text[at + 1] === undefined || isSpace(text, at + 1))
      this.fail(`must stand right before what it excludes: ${CONDITIONS}`, this.#spanOf(1));
    this.#take('not', 1);
    return true;
  }

  #keyword(): 'and' | 'or' | 'not' | null {
    this.#skipSpace();
    const { text, at } = this;
    const found = KEYWORDS.find(([word]) => text.startsWith(word, at) && isBoundary(text, at + word.length));
    return found?.[1] ?? null;
  }

  #takeKeyword(keyword: 'and' | 'or' | 'not'): void {
    this.#take(keyword, keyword.length);
    this.#skipSpace();
  }

  #take(kind: TokenKind, length: number): void {
    this.push(kind, this.#spanOf(length));
    this.at += length;
  }

  #skipSpace(): void {
    while (!this.#isOver() && isSpace(this.text, this.at)) this.at += 1;
  }

  #isOver(): boolean {
    return this.at >= this.text.length;
  }

  #spanOf(length: number): Span {
    return { offset: this.at, length };
  }

  #whole(): Span {
    return { offset: 0, length: this.text.length };
  }
}

function listOf(operator: 'and' | 'or', items: readonly Expression[]): Expression {
  return items.length === 1 ? items[0]! : { kind: 'list', operator, items };
}

const DIGIT_NEXT = /^-\.?[0-9]/;

/** Returns whether a `-` in `field:(…)` is a number's sign. */
function isNegativeNumber(text: string, at: number, { type }: NamedField): boolean {
  return type !== 'text' && type !== 'boolean' && DIGIT_NEXT.test(text.slice(at, at + 3));
}
