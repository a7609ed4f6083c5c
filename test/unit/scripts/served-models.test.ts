import t from 'tap';
import { registryModels } from '#core/models/registry.ts';
import { isServed } from '../../../scripts/models/served.ts';

t.test('a model whose name says that it is not for chat is not served, at any host', async (t) => {
  t.ok(isServed('openrouter', 'acme/chat-1'));
  const kinds =
    'embed embedding-3 rerank-2 moderation guard-4 safeguard content-safety whisper-1 transcribe-1 tts';
  const more = 'audio-1 voice-2 realtime live native-audio image-2 imagine video veo lyria-3 ocr-4 sora omni';
  for (const kind of `${kinds} ${more}`.split(' '))
    t.notOk(isServed('openrouter', `acme/chat-${kind}`), kind);
  t.ok(isServed('openrouter', 'acme/alive-1'), 'a part of a word is not a word');
});

t.test('a provider that needs a prefix serves no bare names', async (t) => {
  t.notOk(isServed('azure', 'gpt-4o'));
  t.notOk(isServed('custom', 'gpt-4o'));
});

t.test('a model is priced when text costs something in both directions', async (t) => {
  const priced = (provider: string, name: string) =>
    registryModels(provider).find(({ names }) => names.includes(name))?.isPriced;
  t.equal(priced('openai', 'gpt-4o'), true);
  t.equal(priced('deepseek', 'deepseek-chat'), true, 'at all times');
  t.equal(priced('google', 'gemma-4-31b-it'), false, 'free');
  t.equal(priced('openai', 'text-embedding-3-small'), false, 'one way');
  t.equal(priced('openai', 'whisper-1'), false, 'by the hour');
  t.same(registryModels('custom'), []);
});
