/** A judge without a network: its answers are given, its requests are kept. */
import type { JsonObject } from '#core/json/mod.ts';
import type { Subject } from '#core/scoring/mod.ts';
import type { JudgeReply, JudgeSession } from '../../../evaluators/llm/client.ts';
import { type JudgeOptions, judge } from '../../../evaluators/llm/judge.ts';
import { createPlanMemory } from '../../../evaluators/llm/plan.ts';
import { SCALES } from './judge-answers.ts';

type Answer =
  | string
  | { status: number; text: string; retryAfterMs?: number }
  | Exclude<JudgeReply['kind'], 'answer'>;

export type ScriptedJudge = JudgeSession & { requests: Request[] };

export type Request = JsonObject & {
  model: string;
  messages: { role: string; content: string }[];
  tools?: { function: { name: string; parameters: Schema } }[];
  response_format?: { json_schema: { schema: Schema } };
};
export type Schema = { properties: { score: { enum?: string[] } } & JsonObject };

/** A judge that answers one after the other; the last answer is given for ever. Each call takes 10 ms by its clock. */
export function scriptedJudge(...answers: (Answer | ((request: Request) => Answer))[]): ScriptedJudge {
  const requests: Request[] = [];
  return {
    requests,
    plans: createPlanMemory(),
    clock: { now: () => Date.UTC(2026, 5, 1), monotonic: () => 0 },
    send: async (body) => {
      const request = structuredClone(body) as Request;
      requests.push(request);
      const given = answers[Math.min(requests.length, answers.length) - 1]!;
      const answer = typeof given === 'function' ? given(request) : given;
      const call = { requestId: `call-${requests.length}`, latencyMs: 10 };
      const plain = { kind: 'answer', retryAfterMs: null, routedModel: null } as const;
      if (typeof answer === 'object') return { ...call, ...plain, ...answer };
      if (['too_large', 'timeout', 'unreachable', 'aborted'].includes(answer)) {
        return { ...call, kind: answer as 'timeout', detail: '' };
      }
      return { ...call, ...plain, status: 200, text: answer };
    },
  };
}

/** A completion that calls the tool with these arguments. */
export function verdict(score: unknown, reasoning = 'Because.', more: JsonObject = {}): string {
  return JSON.stringify({
    model: 'gpt-4o-mini-2024-07-18',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'submit_verdict', arguments: JSON.stringify({ reasoning, score }) },
            },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    ...more,
  });
}

/** A completion that is this text. */
export function text(content: string, finishReason = 'stop'): string {
  return JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finishReason }],
  });
}

/** An error in OpenAI's shape. */
export function error(
  status: number,
  message: string,
  more: JsonObject = {},
): { status: number; text: string } {
  return { status, text: JSON.stringify({ error: { message, type: 'invalid_request_error', ...more } }) };
}

export const SUBJECT: Subject = {
  requestId: '01JAZZ0000000000000000000A',
  input: 'What is 2 + 2?',
  output: 'It is 4, thank you for asking.',
  request: { model: 'gpt-4o', messages: [{ role: 'user', content: 'What is 2 + 2?' }] },
  response: {
    choices: [{ index: 0, message: { role: 'assistant', content: 'It is 4, thank you for asking.' } }],
  },
  inputs: { tone: 'formal' },
  properties: { plan: 'pro' },
  model: 'gpt-4o-2024-08-06',
};

/** Asks it how polite an answer is. */
export function ask(session: ScriptedJudge, more: Partial<JudgeOptions> = {}) {
  return judge({ ...SCALES.range, evaluatorName: 'Politeness', subject: SUBJECT, session, ...more });
}
