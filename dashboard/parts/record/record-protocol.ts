/** What the page and the worker that keeps records say to one another. */
import type { RequestRecord } from '#core/contracts/record.ts';
import type { Turn } from '#core/contracts/session.ts';
import type { BodyMethods } from './body-methods.ts';

/** A record without its bodies. */
export type RecordHead = Omit<RequestRecord, 'request_body' | 'response_body' | 'inputs'>;

/** A turn of a session's conversation without its messages. */
export type TurnHead = Omit<Turn, 'messages' | 'answer'>;
export type TurnPage = { turns: TurnHead[]; next: string | null };

export type MethodName = keyof BodyMethods;

/** Asks the worker; `call` names the question in its answer. */
export type Question =
  /** Fetches the record, and keeps it. */
  | { kind: 'open'; call: number; requestId: string }
  /** Fetches a page of a session's conversation by its address in the API, and keeps its turns. */
  | { kind: 'open-turns'; call: number; page: string }
  /**
   * Asks about the bodies of a record, or about what a turn of a page adds. What was given up for others is fetched again.
   */
  | {
      kind: 'ask';
      call: number;
      requestId: string;
      page: string | null;
      method: MethodName;
      values: unknown[];
    }
  /** Keeps an answer as the page received it, in place of its record. */
  | { kind: 'keep'; call: number; requestId: string; text: string; isStream: boolean; status: number }
  /** Gives a question up. */
  | { kind: 'stop'; call: number };

/** A failure as `ApiFailure` has it. */
export type ToldFailure = {
  message: string;
  status: number;
  requestId: string | null;
  retryAfterS: number | null;
};

export type Answer =
  /** The first of all: the worker has been fetched. */
  | { kind: 'ready' }
  | { call: number; kind: 'done'; value: unknown }
  | { call: number; kind: 'failed'; failure: ToldFailure };
