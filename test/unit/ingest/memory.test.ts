import t from 'tap';
import { memoryWarning } from '../../../ingest/memory.ts';

const MIB = 1024 ** 2;

t.test('a process with too little memory for the largest body is warned of', async (t) => {
  t.equal(memoryWarning(1024 * MIB, 32 * MIB), null);
  t.equal(memoryWarning(384 * MIB, 8 * MIB), null);
  t.match(
    memoryWarning(512 * MIB, 32 * MIB),
    'This process may have 512 MiB of memory, and needs up to 896 MiB to store a body of MAX_BODY_BYTES (32 MiB)',
  );
});
