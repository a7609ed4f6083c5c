/** How the free capacity of a process is shared among webhooks with due deliveries. Pure. */

/** A webhook with due deliveries. */
export type DueWebhook = { organizationId: string; webhookId: string };

/** Deliveries under way in this process, by webhook and by organization. */
export type Held = { ofWebhook: ReadonlyMap<string, number>; ofOrganization: ReadonlyMap<string, number> };

/** Attempts at a time. */
export type Capacity = {
  /** Of the process. */
  total: number;
  /** Beyond `total`, for organizations that have none under way: one that fills the process delays no other. */
  spare: number;
  ofOrganization: number;
  ofWebhook: number;
};

type Waiting = { organizationId: string; held: number; webhooks: { id: string; room: number }[] };

/**
 * Distributes the free capacity: to organizations in turn, those with the fewest attempts under way first, and within an
 * organization to its webhooks in turn. Ties are in the order of `due`, which differs from claim to claim.
 * @returns how many deliveries to claim of each webhook
 */
export function shareCapacity(
  due: readonly DueWebhook[],
  held: Held,
  capacity: Capacity,
): Map<string, number> {
  const shares = new Map<string, number>();
  const running = [...held.ofOrganization.values()].reduce((sum, count) => sum + count, 0);
  let free = Math.max(0, capacity.total - running);
  let spare = capacity.total + capacity.spare - running - free;
  let round = waitingOrganizations(due, held, capacity);
  while (round.length > 0 && (free > 0 || spare > 0)) {
    round = round.filter((organization) => {
      const [webhook] = organization.webhooks;
      if (webhook === undefined || organization.held >= capacity.ofOrganization) return false;
      if (free > 0) free -= 1;
      else if (spare > 0 && organization.held === 0) spare -= 1;
      else return false;
      organization.held += 1;
      shares.set(webhook.id, (shares.get(webhook.id) ?? 0) + 1);
      organization.webhooks.shift();
      webhook.room -= 1;
      if (webhook.room > 0) organization.webhooks.push(webhook);
      return true;
    });
  }
  return shares;
}

function waitingOrganizations(due: readonly DueWebhook[], held: Held, { ofWebhook }: Capacity): Waiting[] {
  const organizations = new Map<string, Waiting>();
  for (const { organizationId, webhookId } of due) {
    const organization = organizations.get(organizationId) ?? {
      organizationId,
      held: held.ofOrganization.get(organizationId) ?? 0,
      webhooks: [],
    };
    organizations.set(organizationId, organization);
    const room = ofWebhook - (held.ofWebhook.get(webhookId) ?? 0);
    if (room > 0) organization.webhooks.push({ id: webhookId, room });
  }
  return [...organizations.values()].sort((one, other) => one.held - other.held);
}
