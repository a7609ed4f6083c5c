/** Hostile, odd and broken evaluators, with the ending that each must have in every tier. */
import { answers } from './programs/answers.ts';
import { everyCall } from './programs/calls.ts';
import { files } from './programs/files.ts';
import { slow } from './programs/limits.ts';
import { network } from './programs/network.ts';
import { others, privileges } from './programs/privileges.ts';
import { processes } from './programs/processes.ts';
import type { Program } from './programs/program.ts';
import { failures, values } from './programs/values.ts';

export const PROGRAMS: readonly Program[] = [
  ...values,
  ...failures,
  ...answers,
  ...files,
  ...network,
  ...processes,
  ...privileges,
  ...others,
  ...everyCall,
  ...slow,
];
