/** Reads Markdown by the lexer of `marked`; none of its HTML is made. Runs in a worker: hostile text can keep a lexer busy. */
import { Lexer, type Token, type Tokens } from 'marked';
import type { MarkdownNode } from './nodes.ts';

const MOST_NODES = 4_000;
const DEEPEST = 24;
const SAFE_SCHEMES = new Set(['http:', 'https:', 'mailto:']);
/** UTF-16 code units of an address. */
const LONGEST_ADDRESS = 2_000;

/**
 * Returns an address that a link may lead to; null: it has another scheme, or none.
 * @internal for tests
 */
export function safeAddress(address: string): string | null {
  if (address.length > LONGEST_ADDRESS || !URL.canParse(address)) return null;
  const url = new URL(address);
  // A name before the host is there to be taken for the host.
  return SAFE_SCHEMES.has(url.protocol) && url.username === '' && url.password === '' ? url.href : null;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

/**
 * Replaces the entities of HTML that people write. The result is only ever shown as text.
 * @internal for tests
 */
export function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]{2,4}));/g,
    (entity, decimal, hex, name) => {
      if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? ENTITIES[name]! : entity;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? entity : String.fromCodePoint(code);
    },
  );
}

const WITH_CHILDREN = {
  strong: 'strong',
  em: 'emphasis',
  del: 'deleted',
  paragraph: 'paragraph',
  blockquote: 'quote',
} as const;

class Reader {
  #left = MOST_NODES;

  nodes(tokens: readonly Token[], depth: number): MarkdownNode[] {
    const nodes: MarkdownNode[] = [];
    for (const token of tokens) {
      this.#left -= 1;
      if (this.#left <= 0 || depth > DEEPEST) {
        nodes.push({ kind: 'text', text: token.raw });
        continue;
      }
      const node = this.#node(token, depth + 1);
      if (node !== null) nodes.push(node);
    }
    return nodes;
  }

  #node(token: Token, depth: number): MarkdownNode | null {
    const children = () => this.nodes(('tokens' in token && token.tokens) || [], depth);
    switch (token.type) {
      case 'strong':
      case 'em':
      case 'del':
      case 'paragraph':
      case 'blockquote':
        return { kind: WITH_CHILDREN[token.type as keyof typeof WITH_CHILDREN], children: children() };
      case 'heading':
        return { kind: 'heading', level: (token as Tokens.Heading).depth, children: children() };
      case 'code':
        return {
          kind: 'code',
          text: (token as Tokens.Code).text,
          language: (token as Tokens.Code).lang ?? '',
        };
      case 'codespan':
        return { kind: 'code-span', text: (token as Tokens.Codespan).text };
      case 'hr':
        return { kind: 'rule' };
      case 'br':
        return { kind: 'break' };
      case 'list':
        return this.#list(token as Tokens.List, depth);
      case 'table':
        return this.#table(token as Tokens.Table, depth);
      case 'link':
        return this.#link(token as Tokens.Link, children());
      case 'image':
        return {
          kind: 'image',
          address: (token as Tokens.Image).href.slice(0, LONGEST_ADDRESS),
          children: [],
        };
      case 'space':
      case 'def':
      // The item of a task has the mark.
      case 'checkbox':
        return null;
      case 'escape':
        return { kind: 'text', text: (token as Tokens.Escape).text };
      case 'text': {
        const { tokens, text } = token as Tokens.Text;
        if (tokens !== undefined && tokens.length > 0) return { kind: 'paragraph', children: children() };
        return { kind: 'text', text: decodeEntities(text) };
      }
      default:
        // HTML among them: shown as it was written.
        return { kind: 'text', text: token.raw };
    }
  }

  #link(token: Tokens.Link, children: MarkdownNode[]): MarkdownNode {
    const address = safeAddress(token.href);
    return address === null ? { kind: 'text', text: token.raw } : { kind: 'link', address, children };
  }

  #list({ ordered, start, items }: Tokens.List, depth: number): MarkdownNode {
    const children = items.map((item): MarkdownNode => {
      const isDone = item.task ? item.checked === true : null;
      return { kind: 'item', isDone, children: this.nodes(item.tokens, depth + 1) };
    });
    return { kind: 'list', start: ordered ? Number(start) || 0 : null, children };
  }

  #table({ header, rows }: Tokens.Table, depth: number): MarkdownNode {
    const row = (kind: 'head-cell' | 'cell', cells: readonly Tokens.TableCell[]): MarkdownNode => ({
      kind: 'row',
      children: cells.map((cell) => ({ kind, children: this.nodes(cell.tokens, depth + 2) })),
    });
    return {
      kind: 'table',
      children: [row('head-cell', header), ...rows.map((cells) => row('cell', cells))],
    };
  }
}

/** Reads a text; null: it is nested deeper than the lexer can follow. */
export function readMarkdown(text: string): MarkdownNode[] | null {
  try {
    return new Reader().nodes(Lexer.lex(text), 0);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
