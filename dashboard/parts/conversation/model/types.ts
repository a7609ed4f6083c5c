/** A conversation as it is shown, whatever dialect it was held in. */
import type { JsonNode } from '../../record/json-node.ts';
import type { Path } from '../../record/path.ts';

export type Side = 'request' | 'response';

/** A text by its beginning. */
export type LongText = { text: string; length: number; path: Path };

/** A value that is shown as a tree. */
export type TreeRoot = { path: Path; node: JsonNode };

export type Part =
  | { kind: 'text'; text: LongText }
  | { kind: 'thinking'; text: LongText }
  | { kind: 'refusal'; text: LongText }
  | { kind: 'tool-call'; name: string; id: string | null; given: TreeRoot }
  | { kind: 'tool-result'; id: string | null; isError: boolean; parts: Part[] }
  /** `type` is what the caller claims. */
  | { kind: 'image'; type: string | null; bytes: number; path: Path }
  | { kind: 'remote-image'; address: string }
  /** What is not shown itself: audio, files. */
  | { kind: 'chip'; label: string; detail: string }
  | { kind: 'data'; label: string; root: TreeRoot };

export type Message = {
  /** As sent, such as `user`. */
  role: string;
  /** What is to be told beside the role: the name of a speaker, the reason why an answer ended. */
  detail: string | null;
  parts: Part[];
};

/** What went wrong at the provider, in its own words. */
export type Notice = { title: string; detail: string | null };

export type ConversationPage = {
  messages: Message[];
  /** Of all pages. */
  total: number;
  notice: Notice | null;
  /** Definitions of tools: their names, and all of them. */
  tools: { names: string[]; count: number; root: TreeRoot } | null;
  /** What else the body says, such as the temperature or the usage. */
  settings: TreeRoot | null;
};
