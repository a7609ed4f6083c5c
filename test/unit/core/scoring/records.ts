/** Stored records, and the texts that are read from them. */
import { readSubject, type StoredRecord } from '#core/scoring/mod.ts';

export const QUESTION = { model: 'gpt-4o', messages: [{ role: 'user', content: 'What is 2 + 2?' }] };
export const ANSWER = {
  choices: [{ index: 0, message: { role: 'assistant', content: '4' }, finish_reason: 'stop' }],
};

export function call(request: unknown, response: unknown, more: Partial<StoredRecord> = {}): StoredRecord {
  return {
    requestId: '01JAZZ0000000000000000000A',
    requestText: typeof request === 'string' ? request : JSON.stringify(request),
    responseText: typeof response === 'string' ? response : JSON.stringify(response),
    status: 200,
    truncated: false,
    errorCode: null,
    inputs: null,
    properties: null,
    model: 'gpt-4o',
    ...more,
  };
}

export function inputOf(request: unknown): string | null {
  const subject = readSubject(call(request, ANSWER));
  return 'skipped' in subject ? null : subject.input;
}

export function outputOf(response: unknown): string | null {
  const subject = readSubject(call(QUESTION, response));
  return 'skipped' in subject ? null : subject.output;
}
