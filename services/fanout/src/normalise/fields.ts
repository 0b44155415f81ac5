// The table of upstream fields and the functions that read them. Add or remove a field here.

import { accountReview, accountUpdate } from './account';
import { contactSync } from './contact-sync';
import type { FieldFunction } from './context';
import { echoes } from './echoes';
import { groups } from './groups';
import { handovers, userIds } from './handovers';
import { history } from './history';
import { businessCapability, numberQuality } from './limits';
import { messages } from './messages';
import { standby } from './standby';
import { templateCategory, templateQuality, templateStatus } from './templates';

/** A known field for which the contract has no event: it is only counted. */
export const NO_EVENT = null;

export const FIELDS: ReadonlyMap<string, FieldFunction | typeof NO_EVENT> = new Map<
  string,
  FieldFunction | null
>([
  ['messages', messages],
  ['smb_message_echoes', echoes],
  ['message_echoes', NO_EVENT],
  ['history', history],
  ['smb_app_state_sync', contactSync],
  ['message_template_status_update', templateStatus],
  ['message_template_quality_update', templateQuality],
  ['message_template_components_update', NO_EVENT],
  ['template_category_update', templateCategory],
  ['template_correct_category_detection', NO_EVENT],
  ['account_update', accountUpdate],
  ['account_review_update', accountReview],
  ['account_alerts', NO_EVENT],
  ['account_settings_update', NO_EVENT],
  ['business_capability_update', businessCapability],
  ['business_status_update', NO_EVENT],
  ['phone_number_quality_update', numberQuality],
  ['phone_number_name_update', NO_EVENT],
  ['security', NO_EVENT],
  ['calls', NO_EVENT],
  ['group_lifecycle_update', groups],
  ['group_participants_update', groups],
  ['group_settings_update', groups],
  ['group_status_update', groups],
  ['messaging_handovers', handovers],
  ['standby', standby],
  ['flows', NO_EVENT],
  ['user_preferences', NO_EVENT],
  ['payment_configuration_update', NO_EVENT],
  ['partner_solutions', NO_EVENT],
  ['automatic_events', NO_EVENT],
  ['tracking_events', NO_EVENT],
  ['user_id_update', userIds],
  ['business_username_updates', NO_EVENT],
  ['consumer_profile', NO_EVENT],
]);
