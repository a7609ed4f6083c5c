// Bundles the program when its bundle is missing or out of date. Plain JavaScript, like setup.mjs, which calls it.
import { buildProgram, isProgramBuilt } from './program/build.mjs';

if (!isProgramBuilt()) {
  try {
    await buildProgram();
  } catch (error) {
    process.stderr.write(`Cannot bundle the program: ${error.message}\n`);
    process.exit(1);
  }
}
