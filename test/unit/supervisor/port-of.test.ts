import t from 'tap';
import { portOf } from '../../../supervisor/port-of.ts';

t.test('portOf returns the port of an address, or the default of its scheme', async (t) => {
  t.equal(portOf('http://127.0.0.1:8787'), '8787');
  t.equal(portOf('http://0.0.0.0:80'), '80');
  t.equal(portOf('https://[::1]:443'), '443');
  t.equal(portOf('https://127.0.0.1:80'), '80');
});
