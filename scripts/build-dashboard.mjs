// Bundles the dashboard when it is missing or out of date. Plain JavaScript, like setup.mjs, which calls it.
import { buildDashboard, isBuilt } from './dashboard/build.mjs';

if (!isBuilt()) {
  try {
    await buildDashboard();
  } catch (error) {
    process.stderr.write(`Cannot bundle the dashboard: ${error.message}\n`);
    process.exit(1);
  }
}
