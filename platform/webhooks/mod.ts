/** Webhooks, as far as the API and the sink share them. */
export { deliveryIdOf, newDeliveryId } from './delivery-id.ts';
export {
  newWebhookSecret,
  openWebhookSecrets,
  sealWebhookSecrets,
  type WebhookOwner,
  type WebhookSecrets,
} from './secrets.ts';
