/**
 * Calls that providers have counted: what was asked and answered, and the usage that came with it. The counts are those
 * of OpenAI's and Anthropic's own APIs, as recorded in public by users of theirs.
 */
import type { JsonObject } from '#core/json/mod.ts';

export type CountedCall = {
  what: string;
  request: JsonObject;
  answer: JsonObject;
  prompt: number;
  completion: number;
};

const user = (content: string) => ({ role: 'user', content });
const called = (name: string, given: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: given } }],
});
const result = (content: string) => ({ role: 'tool', tool_call_id: 'call_1', content });
const answered = (message: object): JsonObject => ({ choices: [{ index: 0, message }] });
const said = (content: string): JsonObject => answered({ role: 'assistant', content });

const tool = (name: string, description: string, properties: JsonObject) => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: {
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    },
  },
});
const text = { type: 'string' };
const country = tool('get_user_country', '', {});
const place = tool('final_result', 'The final response which ends this conversation', {
  city: text,
  country: text,
});
const capital = tool('get_capital', 'Get the capital of a country.', {
  country: { type: 'string', description: 'The country name.' },
});
const temperature = tool('get_temperature', '', { city: text });
const largestCity = user('What is the largest city in the user country?');
const assistant = { role: 'system', content: 'You are a helpful assistant.' };

const object = (properties: JsonObject) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const variant = (kind: string, data: JsonObject) =>
  object({ kind: { type: 'string', const: kind }, data: object(data) });
const cityOrLanguage = {
  type: 'json_schema',
  json_schema: {
    name: 'final_result',
    strict: true,
    schema: object({
      result: {
        anyOf: [
          variant('CityLocation', { city: text, country: text }),
          variant('CountryLanguage', { country: text, language: text }),
        ],
      },
    }),
  },
};
const capitals = [
  user('What is the capital of France?'),
  called('get_capital', '{"country":"France"}'),
  result('Paris'),
  { role: 'assistant', content: 'The capital of France is Paris.' },
  user('What is the capital of England?'),
];
const tokyo = [assistant, user('What is the temperature in Tokyo?')];

export const OPENAI_CALLS: CountedCall[] = [
  {
    what: 'a greeting',
    request: { messages: [user('hello')] },
    answer: said('Hello! How can I assist you today?'),
    prompt: 8,
    completion: 9,
  },
  {
    what: 'parts of text',
    request: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is the main content on this document?' },
            {
              type: 'text',
              text: '-----BEGIN FILE id="d02dc6" type="text/plain"-----\nDummy TXT file\n-----END FILE id="d02dc6"-----',
            },
          ],
        },
      ],
    },
    answer: said('The main content of the document is simply "Dummy TXT file."'),
    prompt: 47,
    completion: 13,
  },
  {
    what: 'two tools',
    request: { messages: [largestCity], tools: [country, place] },
    answer: answered(called('get_user_country', '{}')),
    prompt: 68,
    completion: 11,
  },
  {
    what: 'two tools, one of them called before',
    request: {
      messages: [largestCity, called('get_user_country', '{}'), result('Mexico')],
      tools: [country, place],
    },
    answer: answered(called('final_result', '{"city": "Mexico City", "country": "Mexico"}')),
    prompt: 89,
    completion: 35,
  },
  {
    what: 'a tool, and a conversation',
    request: { messages: capitals, tools: [capital] },
    answer: answered(called('get_capital', '{"country":"England"}')),
    prompt: 104,
    completion: 15,
  },
  {
    what: 'a tool, and a longer conversation',
    request: {
      messages: [...capitals, called('get_capital', '{"country":"England"}'), result('London')],
      tools: [capital],
    },
    answer: said('The capital of England is London.'),
    prompt: 129,
    completion: 8,
  },
  {
    what: 'a schema for the answer, and a tool',
    request: { messages: [largestCity], tools: [country], response_format: cityOrLanguage },
    answer: answered(called('get_user_country', '{}')),
    prompt: 148,
    completion: 11,
  },
  {
    what: 'a schema for the answer, and its answer',
    request: {
      messages: [largestCity, called('get_user_country', '{}'), result('Mexico')],
      tools: [country],
      response_format: cityOrLanguage,
    },
    answer: said('{"result":{"kind":"CityLocation","data":{"city":"Mexico City","country":"Mexico"}}}'),
    prompt: 169,
    completion: 25,
  },
  {
    what: 'a system message and a tool',
    request: { messages: tokyo, tools: [temperature] },
    answer: answered(called('get_temperature', '{"city":"Tokyo"}')),
    prompt: 50,
    completion: 14,
  },
  {
    what: 'a system message, a tool, its result',
    request: {
      messages: [...tokyo, called('get_temperature', '{"city":"Tokyo"}'), result('20.0')],
      tools: [temperature],
    },
    answer: said('The temperature in Tokyo is currently 20.0 degrees Celsius.'),
    prompt: 75,
    completion: 14,
  },
];

/** By another vocabulary than OpenAI's. */
export const ANTHROPIC_CALLS: CountedCall[] = [
  {
    what: 'a question',
    request: {
      system: 'You are a helpful assistant.\n\n',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'What is the capital of France?' }] }],
    },
    answer: { type: 'message', content: [{ type: 'text', text: 'The capital of France is Paris.' }] },
    prompt: 20,
    completion: 10,
  },
];
