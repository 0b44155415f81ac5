// The whole table. A new endpoint is a row in one of these, a handler row in its service, and a test.
import { analytics } from './analytics/rows';
import { broadcasts } from './broadcasts/rows';
import { callsGroups } from './calls-groups/rows';
import { diagnostics } from './diagnostics/rows';
import type { Endpoint } from './endpoint';
import { media } from './media/rows';
import { messages } from './messages/rows';
import { numberSetup } from './number-setup/rows';
import { onboarding } from './onboarding/rows';
import { phone } from './phone/rows';
import { profile } from './profile/rows';
import { recovery } from './recovery/rows';
import { templates } from './templates/rows';

/** The table by chapters, as the documents show it. */
export const chapters: Array<{ name: string; rows: Endpoint[] }> = [
  { name: 'Onboarding and usage', rows: onboarding },
  { name: 'Messages', rows: messages },
  { name: 'Media and contacts', rows: media },
  { name: 'Templates', rows: templates },
  { name: 'Profile', rows: profile },
  { name: 'Analytics', rows: analytics },
  { name: 'Broadcasts', rows: broadcasts },
  { name: 'Number setup', rows: numberSetup },
  { name: 'Account and diagnostics', rows: diagnostics },
  { name: 'Phone number lifecycle', rows: phone },
  { name: 'Calling and groups', rows: callsGroups },
  { name: 'Webhook recovery', rows: recovery },
];

export const endpoints: Endpoint[] = chapters.flatMap(({ rows }) => rows);
