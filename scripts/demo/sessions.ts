/** Sessions of the demo: chats, and a run of an agent. */
import OpenAI from 'openai';
import { type Call, type Headers, headersFor, pick } from './call.ts';
import { AGENT_STEPS, CHATS } from './conversations.ts';

/** A chat: each request sends all that was said before. */
export function chat(index: number): Call {
  const { id, name, exchanges } = pick(CHATS, index);
  return {
    title: 'chat, in a session',
    records: exchanges.length,
    run: async (client) => {
      const headers: Headers = {
        ...headersFor(index),
        'Service-Session-Id': id,
        'Service-Session-Name': name,
        'Service-Session-Path': '/chat',
      };
      const said: OpenAI.ChatCompletionMessageParam[] = [
        { role: 'system', content: 'You answer for a shop for lamps. Be brief and kind.' },
      ];
      for (const { question } of exchanges) {
        said.push({ role: 'user', content: question });
        const body = { model: 'gpt-4o', messages: said };
        const completion = await client.chat.completions.create(body, { headers });
        said.push(completion.choices[0]!.message);
      }
    },
  };
}

/** A run of an agent, one step of which fails and is tried again. */
export function agentRun(index: number): Call {
  return {
    title: 'agent, in a session',
    records: AGENT_STEPS.length,
    run: async (client) => {
      for (const { path, model, question } of AGENT_STEPS) {
        const headers: Headers = {
          ...headersFor(index),
          'Service-Session-Id': 'trip-42',
          'Service-Session-Name': 'Trip to Oslo',
          'Service-Session-Path': path,
        };
        const body: OpenAI.ChatCompletionCreateParamsNonStreaming = {
          model,
          messages: [{ role: 'user', content: question }],
        };
        await client.chat.completions.create(body, { headers }).catch((error: unknown) => {
          if (!(error instanceof OpenAI.APIError)) throw error;
        });
      }
    },
  };
}
