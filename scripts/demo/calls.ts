/**
 * The demo's calls, through the unmodified `openai` package: only its base URL and key are this product's. Headers carry the
 * other fields of the records.
 */
import OpenAI from 'openai';
import { type Call, type Headers, headersFor, messages, pick } from './call.ts';
import { MODELS, QUESTIONS } from './conversations.ts';
import { agentRun, chat } from './sessions.ts';

const PLAIN_CALLS = 16;
const STREAMS = 12;

function plainCall(index: number): Call {
  return {
    title: 'plain',
    records: 1,
    run: async (client) => {
      const body = { model: pick(MODELS, index), messages: messages(pick(QUESTIONS, index).question) };
      await client.chat.completions.create(body, { headers: headersFor(index) });
    },
  };
}

function streamed(index: number): Call {
  return {
    title: 'stream',
    records: 1,
    run: async (client) => {
      const body = { model: pick(MODELS, index), messages: messages(pick(QUESTIONS, index).question) };
      const stream = await client.chat.completions.create(
        { ...body, stream: true },
        { headers: headersFor(index) },
      );
      for await (const _ of stream);
    },
  };
}

const WEATHER_TOOL: OpenAI.ChatCompletionFunctionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather in a city',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  },
};

/** A tool call and its follow-up. */
function toolSession(index: number): Call {
  return {
    title: 'tools, in a session',
    records: 2,
    run: async (client) => {
      const session: Headers = {
        'Service-Session-Id': `weather-${index}`,
        'Service-Session-Name': 'Weather',
      };
      const body = {
        model: 'gpt-4o',
        tools: [WEATHER_TOOL],
        messages: messages('What is the weather in Oslo?'),
      };
      const step = (path: string) => ({
        headers: { ...headersFor(index), ...session, 'Service-Session-Path': path },
      });
      const first = await client.chat.completions.create(body, step('/weather/ask'));
      const asked = first.choices[0]!.message;
      const results = (asked.tool_calls ?? []).map((call) => ({
        role: 'tool' as const,
        tool_call_id: call.id,
        content: '{"celsius":-2,"sky":"clear"}',
      }));
      const followUp = { ...body, messages: [...body.messages, asked, ...results] };
      await client.chat.completions.create(followUp, step('/weather/answer'));
    },
  };
}

/** The provider fails; the client sees its error, and the log has the record. */
function failure(directive: string, index: number): Call {
  return {
    title: `provider error: ${directive}`,
    records: 1,
    run: async (client) => {
      const body = { model: 'gpt-4o-mini', messages: messages(directive) };
      const call = client.chat.completions.create(body, { headers: headersFor(index) });
      await call.then(
        () => Promise.reject(new Error(`"${directive}" should have failed`)),
        (error: unknown) => {
          if (!(error instanceof OpenAI.APIError)) throw error;
        },
      );
    },
  };
}

/** The text stays out of the log: the record has everything else. */
function omitted(header: string): Call {
  return {
    title: header,
    records: 1,
    run: async (client) => {
      const body = { model: 'gpt-4o-mini', messages: messages('My card number is 4111 1111 1111 1111') };
      await client.chat.completions.create(body, { headers: { ...headersFor(0), [header]: 'true' } });
    },
  };
}

/** The user closes the window in the middle of a response: the provider is stopped, the record has status 499. */
function aborted(): Call {
  return {
    title: 'abort',
    records: 1,
    run: async (client) => {
      const body = { model: 'gpt-4o', stream: true, messages: messages('/slow 3000') } as const;
      const stream = await client.chat.completions.create(body, { headers: headersFor(1) });
      let chunks = 0;
      for await (const _ of stream) {
        chunks += 1;
        if (chunks === 5) break;
      }
    },
  };
}

/** All calls, in a mixed order. */
export function demoCalls(): Call[] {
  const everyday = [
    ...Array.from({ length: PLAIN_CALLS }, (_, index) => plainCall(index)),
    ...Array.from({ length: STREAMS }, (_, index) => streamed(index + 1)),
  ];
  const special = [
    chat(0),
    agentRun(1),
    toolSession(0),
    toolSession(2),
    chat(1),
    failure('/status 429', 1),
    failure('/status 500', 3),
    failure('/html 502', 0),
    failure('/cut headers', 2),
    omitted('Service-Omit-Request'),
    omitted('Service-Omit-Response'),
    aborted(),
  ];
  const every = Math.floor(everyday.length / special.length);
  return everyday.flatMap((call, index) => {
    const next = index % every === every - 1 ? special.shift() : undefined;
    return next === undefined ? [call] : [call, next];
  });
}
