/**
 * What a call costs the gateway in bytes allocated and in system calls, held to the figures in kept.json. Counts repeat on a
 * busy machine, where times do not. `npm run bench cost` prints them, `npm run bench cost -- --record` keeps new ones.
 */
import t from 'tap';
import { type Change, type FigureName, findChanges, RECORD_COMMAND } from '../../bench/cost/compare.ts';
import { countCosts } from '../../bench/cost/count.ts';
import { readKept } from '../../bench/cost/kept.ts';
import { systemCallsAreHidden } from '../../bench/cost/system-calls.ts';

// Half a minute, twice as long where something is found, and six times as long where twenty others share the cores.
const isElsewhere = process.platform === 'linux' ? false : 'strace and /proc are those of Linux';
const isUncountable = isElsewhere || (await systemCallsAreHidden());

const { node, costs: kept } = readKept();
/** Null until calls were counted. */
let changes: Change[] | null = null;

/** Returns what is to be said of some figures, or null when they were not counted. */
function sentencesOf(isAsked: (figure: FigureName) => boolean): string[] | null {
  return changes?.filter(({ figure }) => isAsked(figure)).map(({ sentence }) => sentence) ?? null;
}

t.test('calls are made and counted under the Node of the kept figures', { skip: isElsewhere }, async (t) => {
  t.equal(process.versions.node, node, `with another Node: ${RECORD_COMMAND}`);
  const count = async () => {
    const found = await countCosts({
      countsSystemCalls: isUncountable === false,
      onProgress: (line) => t.comment(line),
    });
    return findChanges(kept, found);
  };
  changes = await count();
  if (changes.length === 0) return;
  // Other programs may have disturbed the count. They hardly disturb that of another gateway in the same figure.
  t.comment('found at first:', ...changes.map(({ sentence }) => sentence));
  const again = await count();
  changes = again.filter(({ figure, scenario }) =>
    changes!.some((change) => change.figure === figure && change.scenario === scenario),
  );
});

t.test('a call allocates as much as is kept', { skip: isElsewhere }, async (t) => {
  t.same(
    sentencesOf((figure) => figure !== 'systemCalls'),
    [],
  );
});

t.test('a call makes as many system calls as are kept', { skip: isUncountable }, async (t) => {
  t.same(
    sentencesOf((figure) => figure === 'systemCalls'),
    [],
  );
});

t.test('a higher and a lower figure are found, a small difference is not', async (t) => {
  const changesAt = (change: number) => {
    const found = Object.fromEntries(
      Object.entries(kept).map(([name, { heapBytes, externalBytes, systemCalls }]) => [
        name,
        { heapBytes: heapBytes * change, externalBytes: externalBytes * change, systemCalls },
      ]),
    );
    return findChanges(kept, found);
  };
  t.same(changesAt(1.04), []);
  t.same(changesAt(0.96), []);
  t.equal(changesAt(1.06).length, 2 * Object.keys(kept).length);
  t.match(changesAt(1.06)[0]?.sentence, /a call costs .*kept are .*\(\+6\.0 %\).*if the new cost is meant/);
  t.match(changesAt(0.94)[0]?.sentence, /\(−6\.0 %\). Record the gain/);
});
