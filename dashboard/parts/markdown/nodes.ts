/** Markdown as it is shown: what this type does not name is shown as text. */
export type MarkdownNode =
  | { kind: 'text' | 'code-span'; text: string }
  | { kind: 'code'; text: string; language: string }
  | { kind: 'rule' | 'break' }
  | { kind: 'strong' | 'emphasis' | 'deleted' | 'paragraph' | 'quote'; children: MarkdownNode[] }
  | { kind: 'heading'; level: number; children: MarkdownNode[] }
  | { kind: 'list'; start: number | null; children: MarkdownNode[] }
  | { kind: 'item'; isDone: boolean | null; children: MarkdownNode[] }
  /** `address` has the scheme http, https or mailto. */
  | { kind: 'link'; address: string; children: MarkdownNode[] }
  | { kind: 'image'; address: string; children: MarkdownNode[] }
  | { kind: 'table' | 'row' | 'head-cell' | 'cell'; children: MarkdownNode[] };

/** UTF-16 code units of a text that is read as Markdown. */
export const LONGEST_MARKDOWN = 64 * 1024;
