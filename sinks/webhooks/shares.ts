/** Distribution of a process's free capacity among webhooks with due deliveries. Pure. */

/** A webhook with due deliveries, or an attempt of one that is under way. */
export type Owned = { organizationId: string; webhookId: string };

/** Attempts at a time. */
export type Capacity = {
  /** Limit of the process. */
  total: number;
  ofOrganization: number;
  ofWebhook: number;
};

type Webhook = { id: string; held: number };
type Organization = { held: number; webhooks: Map<string, Webhook>; due: Webhook[] };

/**
 * Distributes the free capacity: to organizations in turn, those with the fewest attempts under way first, and within an
 * organization to its webhooks likewise. None gets more than an even part of the total, so that there is room for the others
 * when receivers are slow; and one that has nothing under way gets one attempt, however full the process or its organization
 * is.
 * @param due webhooks; ties are in their order
 * @param held one for each attempt under way
 * @returns how many deliveries to claim of each webhook
 */
export function shareCapacity(
  due: readonly Owned[],
  held: readonly Owned[],
  capacity: Capacity,
): Map<string, number> {
  const organizations = organizationsOf(due, held);
  const ofOrganization = evenPart(capacity.total, organizations.size, capacity.ofOrganization);
  const shares = new Map<string, number>();
  let free = capacity.total - held.length;
  let waiting = [...organizations.values()];
  while (waiting.length > 0) {
    waiting.sort((one, other) => one.held - other.held);
    waiting = waiting.filter((organization) => {
      const isIdle = organization.held === 0;
      if (!isIdle && free <= 0) return false;
      const webhook = nextWebhook(organization, ofOrganization, capacity.ofWebhook);
      if (webhook === null) return false;
      free -= 1;
      organization.held += 1;
      webhook.held += 1;
      shares.set(webhook.id, (shares.get(webhook.id) ?? 0) + 1);
      return true;
    });
  }
  return shares;
}

/** Returns the webhook of an organization that comes next: the one with the fewest attempts under way; null: none may. */
function nextWebhook(
  { held, webhooks, due }: Organization,
  ofOrganization: number,
  ofWebhook: number,
): Webhook | null {
  let next: Webhook | null = null;
  for (const webhook of due) if (next === null || webhook.held < next.held) next = webhook;
  if (next === null || next.held === 0) return next;
  const isFull = held >= ofOrganization || next.held >= evenPart(ofOrganization, webhooks.size, ofWebhook);
  return isFull ? null : next;
}

function evenPart(total: number, parts: number, most: number): number {
  return Math.min(most, Math.max(1, Math.ceil(total / parts)));
}

function organizationsOf(due: readonly Owned[], held: readonly Owned[]): Map<string, Organization> {
  const organizations = new Map<string, Organization>();
  const find = ({ organizationId, webhookId }: Owned) => {
    const organization: Organization = organizations.get(organizationId) ?? {
      held: 0,
      webhooks: new Map(),
      due: [],
    };
    organizations.set(organizationId, organization);
    const webhook = organization.webhooks.get(webhookId) ?? { id: webhookId, held: 0 };
    organization.webhooks.set(webhookId, webhook);
    return { organization, webhook };
  };
  for (const one of due) {
    const { organization, webhook } = find(one);
    organization.due.push(webhook);
  }
  for (const one of held) {
    const { organization, webhook } = find(one);
    organization.held += 1;
    webhook.held += 1;
  }
  return organizations;
}
