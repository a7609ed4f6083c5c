/** The adapter `http`: posts one signed message for each evaluation to any service, and reads `{score, reasoning?}`. */
import type { HttpConfig } from '#core/contracts/external.ts';
import type { ExternalAdapter, ExternalCall, ExternalItem, UncheckedScore } from './adapter.ts';
import { ExternalFailure } from './failure.ts';
import { postJson, toJsonBody } from './post-json.ts';
import { webhookHeaders } from './webhook-headers.ts';

/** Scores one record in each call. */
export const httpAdapter: ExternalAdapter<HttpConfig> = {
  maxItems: 1,
  score: (call, items) => Promise.all(items.map((item) => scoreOne(call, item))),
};

async function scoreOne(call: ExternalCall<HttpConfig>, item: ExternalItem): Promise<UncheckedScore> {
  const { config, secrets } = call;
  const nowMs = call.clock.now();
  const body = messageOf(call, item, nowMs);
  const ownHeaders = Object.keys(config.headers ?? {}).map((name) => [
    name,
    secrets[`headers.${name}`] ?? '',
  ]);
  const answer = await postJson(call.outbound, {
    url: config.url,
    body,
    headers: {
      ...Object.fromEntries(ownHeaders),
      ...webhookHeaders({ id: `evaluation_${item.evaluationId}`, atMs: nowMs, body, secret: secrets.secret }),
    },
    timeoutMs: config.timeoutMs,
    nowMs,
    signal: call.signal,
  });
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer) || !('score' in answer)) {
    throw new ExternalFailure('ext_bad_answer', 'The service\'s answer is not an object with a "score"');
  }
  return { score: answer.score, reasoning: 'reasoning' in answer ? answer.reasoning : undefined };
}

function messageOf(
  call: ExternalCall<HttpConfig>,
  { evaluationId, subject }: ExternalItem,
  nowMs: number,
): string {
  const { requestId, input, output, inputs, properties, model, request, response, expected, session } =
    subject;
  return toJsonBody({
    type: 'evaluation.requested',
    timestamp: new Date(nowMs).toISOString(),
    data: {
      evaluation_id: evaluationId,
      evaluator: call.evaluator,
      // Without an expected answer, and of a request by itself, the message has no such member.
      request: { id: requestId, input, output, inputs, properties, model, request, response, expected },
      session,
    },
  });
}
