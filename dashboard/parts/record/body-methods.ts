/** What can be asked of a record's bodies. Every answer is bounded, however large the bodies are. */
import type { ConversationPage, Side } from '../conversation/model/types.ts';
import type { JsonNode } from './json-node.ts';
import type { Path } from './path.ts';

/** Some of the members of a value, in order. */
export type Children = { nodes: JsonNode[]; total: number };

/** A piece of a string. */
export type TextPiece = { text: string; from: number; to: number; length: number };

/** An image whose bytes are of a type that is shown, or why it is not shown. */
export type ImageBytes =
  | { kind: 'image'; type: string; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'refused'; reason: string };

export type SearchHit = { path: Path; place: 'name' | 'value'; before: string; match: string; after: string };
export type SearchResult = { hits: SearchHit[]; isCut: boolean };

/** A row of the printed JSON: a line, or a part of a long one. */
export type LineRow = { line: number; text: string; isContinued: boolean };
export type LinePage = { rows: LineRow[]; total: number };

export type BodyMethods = {
  /** The value at a path; null: there is none. */
  node(path: Path): JsonNode | null;
  children(path: Path, from: number, count: number): Children;
  text(path: Path, from: number, to: number): TextPiece;
  /** JSON of a value, or the string itself; null: it is too long for the clipboard. */
  copy(path: Path): string | null;
  image(path: Path): ImageBytes;
  search(text: string): SearchResult;
  lines(side: Side, from: number, count: number): LinePage;
  conversation(side: Side, from: number, count: number): ConversationPage;
};

/** The same, asked of a worker. */
export type BodyReader = {
  [Name in keyof BodyMethods]: (
    ...values: Parameters<BodyMethods[Name]>
  ) => Promise<ReturnType<BodyMethods[Name]>>;
};
