/** Where the requests of lists come from. The API's figures leave out the calls of experiments unless they are asked for. */

/** The sources of the requests that lists have: all but the calls of judges. */
export const LISTED_SOURCES = ['gateway', 'api', 'playground', 'experiment'] as const;

/** The condition that a list of the requests behind a figure has besides. */
export const WITHOUT_EXPERIMENTS = '-source:experiment';

/** Returns whether a query speaks of experiments, so that figures of it must count their calls. */
export function namesExperiments(q: string): boolean {
  return /source:[^)]*experiment/.test(q);
}
