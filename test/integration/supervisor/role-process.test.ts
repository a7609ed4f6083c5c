import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../../..');

t.test(
  'a role that cannot be started for lack of file descriptors is reported like one that ended',
  async (t) => {
    const program = `
    import { openSync } from 'node:fs';
    import { createLogger } from '${root}/platform/observability/log.ts';
    import { startRoleProcess } from '${root}/supervisor/role-process.ts';
    const log = createLogger({ role: 'test', level: 'silent' });
    const role = { role: 'gateway', command: 'true', parameters: [], environment: {}, portVariable: null, log };
    try {
      for (;;) openSync('/dev/null');
    } catch {}
    await startRoleProcess(role).catch((error) => process.stdout.write(error.message));`;
    const directory = t.testdir({ 'starved.ts': program });
    const starved = ['--disable-warning=ExperimentalWarning', join(directory, 'starved.ts')];
    const told = execFileSync('sh', ['-c', 'ulimit -n 100 && exec "$0" "$@"', process.execPath, ...starved]);
    t.equal(told.toString(), 'The gateway did not start (spawn true EMFILE): its log above has the reason');
  },
);
