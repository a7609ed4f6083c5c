/** The pages of the navigation, with the keys that open them. */
export type NavigationItem = { path: string; label: string; key: string; group: 'look' | 'improve' | 'run' };

export const NAVIGATION: readonly NavigationItem[] = [
  { path: '/', label: 'Overview', key: 'o', group: 'look' },
  { path: '/requests', label: 'Requests', key: 'r', group: 'look' },
  { path: '/sessions', label: 'Sessions', key: 's', group: 'look' },
  { path: '/users', label: 'Users', key: 'u', group: 'look' },
  { path: '/evaluators', label: 'Evaluators', key: 'e', group: 'improve' },
  { path: '/review', label: 'Review', key: 'v', group: 'improve' },
  { path: '/prompts', label: 'Prompts', key: 'p', group: 'improve' },
  { path: '/playground', label: 'Playground', key: 'y', group: 'improve' },
  { path: '/datasets', label: 'Datasets', key: 't', group: 'improve' },
  { path: '/experiments', label: 'Experiments', key: 'x', group: 'improve' },
  { path: '/limits', label: 'Limits', key: 'l', group: 'run' },
  { path: '/keys', label: 'Keys', key: 'k', group: 'run' },
  { path: '/webhooks', label: 'Webhooks', key: 'w', group: 'run' },
  { path: '/alerts', label: 'Alerts', key: 'a', group: 'run' },
  { path: '/dead-letters', label: 'Dead letters', key: 'd', group: 'run' },
  { path: '/system', label: 'System', key: 'h', group: 'run' },
];

/** Titles of the groups. */
export const NAVIGATION_GROUPS = { look: 'Look', improve: 'Improve', run: 'Run' } as const;

/** Whether an item is the page of an address, or of one below it. */
export function isCurrent(item: string, path: string): boolean {
  return item === '/' ? path === '/' : path === item || path.startsWith(`${item}/`);
}
