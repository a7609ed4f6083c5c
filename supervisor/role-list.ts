/** The roles in the order of a call: producers of work before its consumers. */
export const ROLES = ['gateway', 'api', 'ingest', 'evaluators'] as const;
export type RoleName = (typeof ROLES)[number];

/** The variable that sets each role's port. */
export const PORT_VARIABLES = {
  gateway: 'GATEWAY_PORT',
  api: 'API_PORT',
  ingest: 'INGEST_PORT',
  evaluators: 'EVALUATORS_PORT',
} as const satisfies Record<RoleName, string>;
