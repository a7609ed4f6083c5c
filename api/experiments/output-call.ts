/** Makes the call that an answer of a job is logged as. Pure. */
import type { OutputBody } from '#core/contracts/experiment-output.ts';
import type { Prices } from '#core/experiments/mod.ts';
import { isObject } from '#core/json/mod.ts';
import type { LogRequestBody } from '../log/mod.ts';
import type { OutputRun } from './external-run.ts';

/** Names of a model and a provider that nobody knows: the answer then has no price. */
const UNKNOWN_MODEL = 'external';
const UNKNOWN_PROVIDER = 'EXTERNAL';
const PATH = '/v1/chat/completions';

/** Returns the call as `POST /v1/log/request` takes it. */
export function outputCall(
  { call_id, experiment_id, request }: Pick<OutputRun, 'call_id' | 'experiment_id' | 'request'>,
  { response, model, latencyMs = 0 }: OutputBody,
  { prices, nowMs }: { prices: Prices; nowMs: number },
): { body: LogRequestBody; written: [Buffer, Buffer, null] } {
  const asked: unknown = request === null ? {} : JSON.parse(request);
  const named = [model, isObject(response) ? response.model : null, isObject(asked) ? asked.model : null];
  const answeredBy = named.find((name) => typeof name === 'string' && name !== '') as string | undefined;
  const used = answeredBy ?? UNKNOWN_MODEL;
  const answer = typeof response === 'string' ? completionOf(response, used) : response!;
  const requestBody = request ?? '{}';
  return {
    body: {
      request_id: call_id,
      experiment_id,
      provider: prices.providerOf(used)?.provider ?? UNKNOWN_PROVIDER,
      model: used,
      request: { body: asked as object, path: PATH, created_at: nowMs - Math.round(latencyMs) },
      response: { body: answer, status: 200, created_at: nowMs },
    },
    written: [Buffer.from(requestBody), Buffer.from(JSON.stringify(answer)), null],
  };
}

function completionOf(text: string, model: string): object {
  const message = { role: 'assistant', content: text };
  return { object: 'chat.completion', model, choices: [{ index: 0, message, finish_reason: 'stop' }] };
}
