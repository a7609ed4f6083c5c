/** Contents of Messages calls for providers that are stricter than OpenAI, by their rows. */
import t from 'tap';
import type { JsonObject } from '#core/json/mod.ts';
import { PROVIDERS } from '../../../../gateway/providers/registry.ts';
import { TRANSLATIONS, translationFor } from '../../../../gateway/translations/mod.ts';

function requestOf(provider: keyof typeof PROVIDERS, model: string): JsonObject {
  const body = {
    model,
    max_tokens: 100,
    metadata: { user_id: 'u' },
    messages: [
      { role: 'user', content: 'Hello' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: '' },
          { type: 'redacted_thinking', data: '~assay.reasoning.OPENAI.rs_1.gAAA' },
          { type: 'tool_use', id: 'a', name: 'f', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] },
    ],
  };
  return TRANSLATIONS['messages by chat'].request(body, model, PROVIDERS[provider]);
}

t.test('each provider gets what it asks for in earlier turns, and nothing that it refuses', async (t) => {
  const found = (provider: keyof typeof PROVIDERS, model: string) => {
    const text = JSON.stringify(requestOf(provider, model));
    const names = [
      '"user":"u"',
      'reasoning_content',
      'thought_signature',
      'thinking_blocks',
      '~assay.reasoning',
    ];
    return names.filter((name) => text.includes(name));
  };
  t.same(found('openai', 'gpt-4o'), ['"user":"u"']);
  t.same(found('mistral', 'mistral-large-latest'), []);
  t.same(found('deepseek', 'deepseek-chat'), ['"user":"u"', 'reasoning_content']);
  t.same(found('google', 'gemini-3-pro-preview'), ['"user":"u"', 'thought_signature']);
  t.same(found('google', 'gemini-2.5-flash'), ['"user":"u"']);
  t.same(found('openrouter', 'anthropic/claude-sonnet-4.5'), ['"user":"u"', 'thinking_blocks']);
});

t.test('tool calls of other providers have ids that Mistral takes, alike in call and result', async (t) => {
  const idsOf = (provider: keyof typeof PROVIDERS, ids: string[]): unknown[] => {
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })) },
      { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'x' })) },
    ];
    const request = TRANSLATIONS['messages by chat'].request(
      { model: 'm', max_tokens: 1, messages },
      'm',
      PROVIDERS[provider],
    );
    const [, assistant, ...results] = request.messages as JsonObject[];
    const called = (assistant!.tool_calls as JsonObject[]).map(({ id }) => id);
    t.same(
      results.map(({ tool_call_id: id }) => id),
      called,
    );
    return called;
  };
  const foreign = ['toolu_01A09q90qw90lq917835lq9', 'call_abc', 'call-abc'];
  const [first, second, third, own] = idsOf('mistral', [...foreign, 'D681PevKs']);
  for (const id of [first, second, third]) t.match(id, /^[a-zA-Z0-9]{9}$/);
  t.equal(new Set([first, second, third]).size, 3);
  t.equal(own, 'D681PevKs', 'one of its own is kept');
  t.same(idsOf('openai', foreign), foreign);
});

/** Models that have efforts, where not all of a provider's have. */
const MODEL: Partial<Record<keyof typeof PROVIDERS, string>> = {
  openai: 'gpt-5',
  azure: 'gpt-5',
  groq: 'openai/gpt-oss-120b',
  xai: 'grok-4.3',
};

t.test('an effort is at most the highest that the provider takes', async (t) => {
  const effortOf = (provider: keyof typeof PROVIDERS, effort: string) => {
    const messages = [{ role: 'user', content: 'Hello' }];
    const body = { model: 'm', max_tokens: 1, messages, output_config: { effort } };
    return TRANSLATIONS['messages by chat'].request(body, MODEL[provider] ?? 'm', PROVIDERS[provider])
      .reasoning_effort;
  };
  for (const provider of ['google', 'groq'] as const) {
    t.equal(effortOf(provider, 'max'), 'high', provider);
    t.equal(effortOf(provider, 'xhigh'), 'high', provider);
    t.equal(effortOf(provider, 'low'), 'low', provider);
  }
  for (const effort of ['xhigh', 'max']) t.equal(effortOf('openai', effort), effort);
});

t.test(
  'Messages go by Responses to the models of OpenAI that reason, where these have Responses',
  async (t) => {
    const of = (provider: keyof typeof PROVIDERS, model: string, paths = PROVIDERS[provider].paths) =>
      translationFor('messages', { row: PROVIDERS[provider], model, paths });
    for (const model of ['gpt-5', 'gpt-5.6-terra', 'gpt-10', 'o3-pro', 'codex-mini-latest'])
      t.equal(of('openai', model), 'messages by responses', model);
    for (const model of ['gpt-4o', 'gpt-4.1', 'gpt-5-chat-latest', 'gpt-35-turbo', 'gpt-oss-120b', 'omni'])
      t.equal(of('openai', model), 'messages by chat', model);
    t.equal(of('azure', 'gpt-5'), 'messages by responses');
    t.equal(of('azure', 'gpt-5', { chat: '/chat' }), 'messages by chat', 'Azure by versions');
    t.equal(of('openrouter', 'gpt-5'), 'messages by chat');
    t.equal(of('custom', 'gpt-5'), 'messages by chat');
  },
);

t.test('an effort reaches the models that have efforts, and no model that refuses one', async (t) => {
  const body = {
    max_tokens: 1,
    messages: [{ role: 'user', content: 'x' }],
    output_config: { effort: 'low' },
  };
  const effortOf = (provider: keyof typeof PROVIDERS, model: string) =>
    TRANSLATIONS['messages by chat'].request(body, model, PROVIDERS[provider]).reasoning_effort;
  for (const [provider, model] of [
    ['openai', 'gpt-4o'],
    ['openai', 'gpt-5-chat-latest'],
    ['azure', 'gpt-4.1'],
    ['groq', 'llama-3.3-70b-versatile'],
    ['xai', 'grok-4'],
    ['xai', 'grok-4.20-0309-reasoning'],
    ['xai', 'grok-code-fast-1'],
  ] as const)
    t.equal(effortOf(provider, model), undefined, model);
  for (const [provider, model] of [
    ['azure', 'gpt-5'],
    ['groq', 'openai/gpt-oss-120b'],
    ['xai', 'grok-4.3'],
    ['xai', 'grok-3-mini'],
    ['google', 'gemini-3-pro-preview'],
    ['custom', 'm'],
  ] as const)
    t.equal(effortOf(provider, model), 'low', model);
});
