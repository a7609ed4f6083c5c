import t from 'tap';
import { bytesOfBase64, readImage } from '../../../../../dashboard/parts/record/read-image.ts';

const base64 = (text: string) => btoa(text);
const IMAGES = {
  'image/png': '\x89PNG\r\n\x1a\nrest of the file',
  'image/jpeg': '\xff\xd8\xff\xe0rest of the file',
  'image/gif': 'GIF89arest of the file',
  'image/webp': 'RIFF\0\0\0\0WEBPrest of the file',
};

for (const [type, content] of Object.entries(IMAGES)) {
  t.test(`${type} is told by its first bytes, whatever the caller claims`, async (t) => {
    for (const claimed of ['', 'data:image/svg+xml;base64,', 'data:text/html;charset=utf-8;base64,']) {
      const image = readImage(`${claimed}${base64(content)}`);
      t.match(image, { kind: 'image', type });
      if (image.kind === 'image') t.equal(String.fromCharCode(...image.bytes), content);
    }
  });
}

t.test('SVG, HTML, broken base64 and an empty text are refused, whatever the caller claims', async (t) => {
  const texts = [
    '<svg onload=alert(1)>',
    '<!doctype html><script>1</script>',
    'GIF8',
    'PNG',
    'RIFFxxxxWAVE',
    '',
  ];
  for (const text of texts) {
    t.match(readImage(`data:image/png;base64,${base64(text)}`), { kind: 'refused' }, text);
  }
  t.match(readImage('data:image/png;base64,%%%'), { kind: 'refused' });
  t.match(readImage(`${base64(IMAGES['image/gif'])}%`), { kind: 'refused', reason: 'The base64 is broken' });
});

t.test('the size of base64 is told without decoding it', async (t) => {
  for (const text of ['', 'a', 'ab', 'abc', 'abcd']) t.equal(bytesOfBase64(base64(text)), text.length);
});
