import t from 'tap';
import { hasLoginCookie, loginCookie, readLoginCookie } from '../../../../api/login/cookie.ts';

const PLAIN = 'http://127.0.0.1:8585';
const SECURE = 'https://assay.example.com';

t.test('the cookie is read from any header line and place, with or without spaces', (t) => {
  for (const lines of [
    ['Cookie', 'assay=abc'],
    ['cookie', 'theme=dark; assay=abc;lang=en'],
    ['COOKIE', ' a=b ;  assay = abc '],
    ['Cookie', 'a=b', 'Host', 'assay=no', 'Cookie', 'assay=abc'],
  ]) {
    t.equal(readLoginCookie(lines, PLAIN), 'abc', lines.join());
    t.ok(hasLoginCookie(lines));
  }
  t.end();
});

t.test('a cookie with another name, or of another kind of origin, is none', (t) => {
  for (const text of ['', ';;', '=assay', 'assay', 'Assay=x', 'xassay=x', 'assay-x=y', '__Host-assay=x']) {
    t.equal(readLoginCookie(['Cookie', text], PLAIN), null, text);
  }
  t.equal(readLoginCookie(['Cookie', 'assay=x'], SECURE), null, 'over TLS the name has its prefix');
  t.equal(readLoginCookie(['Cookie', 'assay=x; __Host-assay=y'], SECURE), 'y');
  t.notOk(hasLoginCookie(['Cookie', 'a=b', 'X-Cookie', 'assay=x']));
  t.end();
});

t.test('two cookies of the same name are refused with the code invalid_header', (t) => {
  for (const lines of [
    ['Cookie', 'assay=a; assay=b'],
    ['Cookie', 'assay=a', 'cookie', 'assay=a'],
  ]) {
    t.throws(() => readLoginCookie(lines, PLAIN), { code: 'invalid_header', message: /127\.0\.0\.1/ });
  }
  t.end();
});

t.test('a deleted cookie has the attributes of the one that was set, and no age', (t) => {
  t.equal(loginCookie(SECURE, null), '__Host-assay=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0');
  t.equal(loginCookie(PLAIN, 'x'), 'assay=x; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800');
  t.end();
});
