/** Runs everything on one machine, and provides the operator's commands. */
export { type DeadLetterStore, deadLettersCommand } from './commands/dead-letters.ts';
export { experimentsCommand } from './commands/experiments.ts';
export { exportCommand } from './commands/export/export.ts';
export { judgmentsCommand } from './commands/judgments/judgments.ts';
export { keysCommand, type RunCommand } from './commands/keys.ts';
export { loginLinkCommand } from './commands/login-link.ts';
export { organizationsCommand } from './commands/organizations.ts';
export { type RollupStore, rollupsCommand } from './commands/rollups.ts';
export { lockRole } from './data-dir.ts';
export { ROLES, type RoleName } from './role-list.ts';
export { migrateStore, withStore } from './store.ts';
export { supervise, superviseDeadlineMs } from './supervise.ts';
