import type { JsonObject } from '../../json-values/mod.ts';

/** An event of a stream whose data is a JSON object. */
export type StreamEvent = {
  /** The `type` in its data, else its `event:` field; null for chunks of OpenAI's completions, which have neither. */
  type: string | null;
  data: JsonObject;
};

/** Signals of the end that belong to no dialect. */
export type Ending = {
  /** `[DONE]` arrived: the end of chat completions and completions. Proxies also send it after a stream that broke off. */
  isDone: boolean;
  /** An error event arrived. */
  hasError: boolean;
};

/** The result of assembling one dialect's events. */
export type Assembled = { completion: JsonObject; complete: boolean };

/**
 * Assembles one dialect's stream, event by event. Never throws, ignores unknown events, and needs memory only for the
 * events received, whatever indexes they name. Takes ownership of the events' data.
 */
export type Assembler = {
  take(event: StreamEvent): void;
  /** Returns the answer assembled so far; called once. */
  end(ending: Ending): Assembled;
};
