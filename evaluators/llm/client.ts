/** The access of judges to their models: each call goes through the gateway. */
import type { JsonObject } from '#core/json/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { createGatewayClient, type GatewayClientOptions, type GatewayReply } from '../gateway-client.ts';
import { createPlanMemory, type PlanMemory } from './plan.ts';

/** The result of one call of a judge. */
export type JudgeReply = GatewayReply;

/** The access of one evaluation to its judge: the call, and the plans remembered for models. */
export type JudgeSession = {
  /** Makes one call; never rejects. */
  send(body: JsonObject, signal?: AbortSignal): Promise<JudgeReply>;
  readonly plans: PlanMemory;
  readonly clock: Clock;
};

/** Options of `createJudgeClient`. */
export type JudgeClientOptions = GatewayClientOptions & {
  /** Returns the headers that authenticate the calls of one evaluation at the gateway. */
  internalHeaders(organizationId: string, evaluationId: string): Record<string, string>;
};

/** The connections of one process to its gateway. */
export type JudgeClient = {
  /** Makes the session of one evaluation. */
  sessionFor(organizationId: string, evaluationId: string): JudgeSession;
  /** Closes every connection; calls under way end as `unreachable`. */
  close(): Promise<void>;
};

/** Makes the client of one process. */
export function createJudgeClient(options: JudgeClientOptions): JudgeClient {
  const { clock, internalHeaders } = options;
  const client = createGatewayClient(options);
  const plans = createPlanMemory();
  return {
    sessionFor: (organizationId, evaluationId) => ({
      plans,
      clock,
      send: (body, signal) =>
        client.send({
          headers: internalHeaders(organizationId, evaluationId),
          body: JSON.stringify(body),
          signal,
        }),
    }),
    close: client.close,
  };
}
