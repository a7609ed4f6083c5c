/** The body of a stored prompt as it is edited, and back. Pure. */
import { isObject, type JsonObject } from '#core/json-values/mod.ts';
import {
  type DraftMessage,
  newMessage,
  parseField,
  pretty,
  readMessages,
  writeMessages,
} from '../draft/messages.ts';

export type StoredFields = {
  model: string;
  messages: readonly DraftMessage[];
  /** JSON of an object: all other members. Empty: none. */
  others: string;
};

/** Returns the members of a body beside its messages and its model. */
export function othersOf(body: JsonObject): JsonObject {
  const { model: _, messages: __, ...others } = body;
  return others;
}

/** Reads a body; an empty one begins with a message. */
export function readStored(body: JsonObject): StoredFields {
  const others = othersOf(body);
  const isEmpty = Object.keys(body).length === 0;
  return {
    model: typeof body.model === 'string' ? body.model : '',
    messages: isEmpty ? [newMessage('system')] : readMessages('chat', body),
    others: Object.keys(others).length === 0 ? '' : pretty(others),
  };
}

/** Returns the body. @throws Error that says what is not valid */
export function writeStored({ model, messages, others }: StoredFields): JsonObject {
  const rest = others.trim() === '' ? {} : parseField(others, 'Other fields must be a JSON object');
  if (!isObject(rest)) throw new Error('Other fields must be a JSON object');
  return {
    ...(model.trim() === '' ? {} : { model: model.trim() }),
    ...(messages.length === 0 ? {} : writeMessages('chat', messages)),
    ...rest,
  };
}
