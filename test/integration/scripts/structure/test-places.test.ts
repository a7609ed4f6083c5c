/** Folders of tests mirror the folders of sources. */
import t from 'tap';
import { findMisplacedTests } from '../../../../scripts/structure/test-places.ts';

t.test(
  'a source needs tests in the folder that mirrors its own, or in one that is named like it',
  async (t) => {
    const paths = [
      'core/json/scan.ts',
      'core/json/mod.ts',
      'core/text/fold.ts',
      'core/chat/assemble.ts',
      'dashboard/styles/css.d.ts',
      'dashboard/pages/user/user.tsx',
      'dashboard/pages/users/users.tsx',
      'dashboard/pages/routes.tsx',
      'dashboard/parts/menu/menu.tsx',
      'dashboard/parts/diff/text-diff.tsx',
      'dashboard/parts/diff/words.ts',
      'test/integration/dashboard/pages/user/any.test.ts',
      'test/unit/core/json/any.test.ts',
      'test/integration/core/text/fold/any.test.ts',
      'test/system/core/chat/any.test.ts',
    ];
    t.same(
      findMisplacedTests(paths).map(({ path }) => path),
      ['core/chat', 'dashboard/pages/users', 'dashboard/parts/diff'],
    );
  },
);

t.test('a folder of tests that mirrors no sources is refused', async (t) => {
  const paths = ['core/a/a.ts', 'test/unit/core/a/a.test.ts', 'test/unit/core/old/a.test.ts'];
  t.match(findMisplacedTests(paths), [{ path: 'test/unit/core/old', rule: /^mirrors no sources/ }]);
});
