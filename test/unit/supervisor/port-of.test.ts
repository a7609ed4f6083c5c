import t from 'tap';
import { portOf } from '../../../supervisor/port-of.ts';

t.test('an address names its port, also where its scheme stands for it', async (t) => {
  t.equal(portOf('http://127.0.0.1:8787'), '8787');
  t.equal(portOf('http://0.0.0.0:80'), '80');
  t.equal(portOf('https://[::1]:443'), '443');
  t.equal(portOf('https://127.0.0.1:80'), '80');
});
