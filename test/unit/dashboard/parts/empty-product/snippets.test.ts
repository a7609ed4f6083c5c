import t from 'tap';
import { KEY_PLACE, snippetsFor } from '../../../../../dashboard/parts/empty-product/snippets.ts';

t.test('Every first call goes to the given gateway, with a place for the key', async (t) => {
  const snippets = snippetsFor('https://gateway.example:8787');
  t.same(
    snippets.map(({ name }) => name),
    ['curl', 'OpenAI, JavaScript', 'OpenAI, Python', 'Anthropic, JavaScript'],
  );
  for (const { name, code } of snippets) {
    t.match(code, 'https://gateway.example:8787', name);
    t.match(code, KEY_PLACE, name);
  }
});

t.test("The clients of OpenAI get the version's path, and the one of Anthropic adds it itself", async (t) => {
  const [, script, python, anthropic] = snippetsFor('http://127.0.0.1:8787').map(({ code }) => code);
  t.match(script, "baseURL: 'http://127.0.0.1:8787/v1'");
  t.match(python, 'base_url="http://127.0.0.1:8787/v1"');
  t.match(anthropic, "baseURL: 'http://127.0.0.1:8787'");
});
