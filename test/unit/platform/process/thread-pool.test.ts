import t from 'tap';
import { AssayError } from '#core/contracts/errors.ts';
import { createThreadPool } from '#platform/process/thread-pool.ts';

t.test('a task for which no thread can be started is rejected with bodies_busy, and forgotten', async (t) => {
  const pool = createThreadPool<Buffer, unknown>({
    module: new URL('./none.js', import.meta.url),
    threadMemoryMb: 64,
    minThreads: 0,
    maxThreads: 2,
    // A thread with data that cannot be copied is not started, as where the system has no thread left.
    workerData: () => {},
  });
  t.teardown(() => pool.destroy());
  for (let number = 0; number < 3; number += 1) {
    const error = await pool.run(Buffer.alloc(10)).catch((reason: unknown) => reason);
    t.ok(error instanceof AssayError && error.cause instanceof Error);
    t.match(error, { code: 'bodies_busy', message: /^No thread can be started/ });
  }
  t.equal(pool.queueSize, 0, 'none of them waits for a thread');
});
