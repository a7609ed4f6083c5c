import type { JsonObject } from '../../json/mod.ts';

/** An event of a stream whose data is a JSON object. */
export type StreamEvent = {
  /** What its data calls it, else its `event:` field; null for the chunks of OpenAI's completions, which have neither. */
  type: string | null;
  data: JsonObject;
};

/** What was told of the end outside of any dialect. */
export type Ending = {
  /** `[DONE]` came: the end of chat completions and completions, which proxies send behind what broke off, too. */
  isDone: boolean;
  /** An error was told. */
  hasError: boolean;
};

/** What one dialect's events make. */
export type Assembled = { completion: JsonObject; complete: boolean };

/**
 * Puts one dialect's stream together, event by event. Never throws, passes over what it does not know, and makes no
 * more than what came, whatever indexes the events name. The events' data become its own.
 */
export type Assembler = {
  take(event: StreamEvent): void;
  /** What has come so far; called once. */
  end(ending: Ending): Assembled;
};
