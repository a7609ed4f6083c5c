/** A call that was made elsewhere and is logged through the API, and what became of it. */
import { type CallResult, digest, type Line } from './call.ts';
import { post } from './exchange.ts';
import { answerWords } from './wish.ts';

/** Logs a call. Never rejects. */
export async function logCall({ url, ...line }: Line, call: number, words: number): Promise<CallResult> {
  const now = new Date().toISOString();
  const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: `Call ${call}` }] };
  const answer = answerWords(call, words).join('');
  const choice = { index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' };
  const body = {
    provider: 'openai',
    model: question.model,
    request: { body: question, created_at: now },
    response: { body: { model: question.model, choices: [choice] }, status: 200, created_at: now },
    user_id: String(call),
  };
  const { status, text, isWhole, why } = await post({
    ...line,
    url: `${url}/v1/log/request`,
    body: Buffer.from(JSON.stringify(body)),
  });
  const isAnswered = isWhole && status === 200;
  return {
    end: isAnswered ? 'answered' : isWhole ? 'refused' : 'lost',
    status,
    requestId: isAnswered ? (JSON.parse(text) as { data: { request_id: string } }).data.request_id : null,
    isLogged: true,
    requestDigest: digest(JSON.stringify(question)),
    answerDigest: isAnswered ? digest(answer) : null,
    why: isAnswered ? null : (why ?? text),
  };
}
