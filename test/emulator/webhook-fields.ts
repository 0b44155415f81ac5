// The webhook fields that the platform offers to an app, in the order of its dashboard.
import { words } from '../testkit/words';

export const WEBHOOK_FIELDS: readonly string[] = words(`
  messages smb_message_echoes message_echoes history smb_app_state_sync
  message_template_status_update message_template_quality_update message_template_components_update
  template_category_update template_correct_category_detection account_update account_review_update
  account_alerts account_settings_update business_capability_update business_status_update
  phone_number_quality_update phone_number_name_update security calls group_lifecycle_update
  group_participants_update group_settings_update group_status_update messaging_handovers standby
  flows user_preferences payment_configuration_update partner_solutions automatic_events
  tracking_events
`);
