/** Parts of webhooks that the API and the sink share. */
export { deliveryIdOf, newDeliveryId } from './delivery-id.ts';
export {
  newWebhookSecret,
  openWebhookSecrets,
  sealWebhookSecrets,
  type WebhookOwner,
  type WebhookSecrets,
} from './secrets.ts';
