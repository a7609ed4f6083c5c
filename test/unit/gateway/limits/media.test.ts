import t from 'tap';
import { mediaIn } from '../../../../gateway/limits/media.ts';

const data = (bytes: number) => Buffer.alloc(bytes, 'image').toString('base64');
const inMessage = (...content: unknown[]) =>
  Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }));

const image = (bytes: number) => ({
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${data(bytes)}` },
});
const source = (bytes: number) => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: data(bytes) },
});

t.test('images, audio and files are found in the forms of both dialects', async (t) => {
  const size = data(9_000).length;
  const audio = { type: 'input_audio', input_audio: { data: data(9_000), format: 'wav' } };
  const file = { type: 'file', file: { file_data: `data:application/pdf;base64,${data(9_000)}` } };
  for (const part of [image(9_000), source(9_000), audio, file])
    t.same(mediaIn(inMessage({ type: 'text', text: 'What is this?' }, part)), { count: 1, bytes: size });
  t.same(mediaIn(inMessage(image(9_000), source(9_000), audio)), { count: 3, bytes: 3 * size });
  const spaced = Buffer.from(
    JSON.stringify({ source: { data: data(9_000) } }).replace('"data":', '"data": '),
  );
  t.same(mediaIn(spaced), { count: 1, bytes: size });
});

t.test('text is no medium, whatever it says', async (t) => {
  const none = { count: 0, bytes: 0 };
  t.same(mediaIn(inMessage({ type: 'text', text: 'word '.repeat(9_000) })), none);
  t.same(mediaIn(inMessage({ type: 'tool_use', input: { data: 'Many words, '.repeat(2_000) } })), none);
  t.same(mediaIn(inMessage({ type: 'text', text: `a;base64,${'b c'.repeat(9_000)}` })), none);
  t.same(mediaIn(inMessage(...Array.from({ length: 500 }, () => image(30)))), none, 'nor are small ones');
  t.same(mediaIn(Buffer.from(`{"x":"${'x'.repeat(9_000)};base64,`)), none, 'nor what has no end');
});

t.test('the media of a body made to be slow are found quickly', async (t) => {
  const started = performance.now();
  for (const text of [';base64,', ';base64,"', '"data":"', ';base64,AAAA'])
    mediaIn(Buffer.from(text.repeat(Math.ceil((32 * 1024 * 1024) / text.length))));
  t.ok(performance.now() - started < 10_000, `${performance.now() - started} ms`);
});
