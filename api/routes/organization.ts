import { AuditPage, AuditQuery } from '#core/contracts/audit.ts';
import type { AuditService } from '../audit/mod.ts';
import { OrganizationJson, type OrganizationService } from '../organization/mod.ts';
import { authorized, type Keys } from './access.ts';
import { parameters, reply } from './declare.ts';

export type OrganizationRoutesOptions = {
  keys: Keys;
  organization: OrganizationService;
  audit: AuditService;
};

/** `/v1/organization` and `/v1/audit`. */
export function organizationRoutes({ keys, organization, audit }: OrganizationRoutesOptions) {
  return authorized(keys, 'read', 'Organization')
    .get('/v1/organization', ({ key }) => organization.get(key.organizationId), {
      response: reply(OrganizationJson),
      detail: { summary: "Returns the caller's organization: tier, limits, budget, number of keys" },
    })
    .get('/v1/audit', ({ key, query }) => audit.list(key.organizationId, query), {
      query: parameters(AuditQuery),
      response: reply(AuditPage),
      detail: { summary: 'Lists changes of the configuration, newest first: who, what, when' },
    });
}
