/** The bodies of messages. Pure. */
import { TEST_EVENT } from '#core/contracts/webhook.ts';
import { chatText } from './chat-text.ts';
import type { Job } from './claim.ts';
import { type Content, MAX_MESSAGE_BYTES } from './content.ts';

/** Returns the body of a message. `content` is null for an event about no request, or about one that was erased. */
export function messageOf(job: Job, content: Content | null): string {
  if (job.format === 'chat') return JSON.stringify({ text: chatText(job, content) });
  if (content?.full != null) {
    const full = standardMessage(job, content.full, { payload: 'full' });
    if (Buffer.byteLength(full) <= MAX_MESSAGE_BYTES) return full;
  }
  const isReduced = job.payload === 'full' && content !== null;
  return standardMessage(job, JSON.stringify(content?.thin ?? erasedRequest(job)), {
    payload: 'thin',
    ...(isReduced && { reduced: true }),
  });
}

/** Returns the remains of an erased request: its id and its time. */
function erasedRequest({ createdAt, requestId }: Job): object | null {
  return requestId === null ? null : { request_id: requestId, request_created_at: createdAt!.toISOString() };
}

/** @param request the JSON of the request; `null` for an event about none */
function standardMessage({ event, eventAt, details }: Job, request: string, kind: object): string {
  const about = request === 'null' ? {} : kind;
  const said = event === TEST_EVENT ? { message: 'This is a test' } : (details ?? {});
  const members = JSON.stringify({ ...about, ...said }).slice(1, -1);
  const requestMember = request === 'null' ? '' : `"request":${request}`;
  const data = [requestMember, members].filter((text) => text !== '').join(',');
  return `{"type":${JSON.stringify(event)},"timestamp":${JSON.stringify(eventAt.toISOString())},"data":{${data}}}`;
}
