export { checkWebhookUrl, createPartnerChanges } from './changes';
