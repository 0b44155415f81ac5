// The whole table. A new endpoint is a row in one of these, a handler row in its service, and a test.
import { analytics } from './analytics';
import { broadcasts } from './broadcasts';
import { callsGroups } from './calls-groups';
import { diagnostics } from './diagnostics';
import type { Endpoint } from './endpoint';
import { media } from './media';
import { messages } from './messages';
import { numberSetup } from './number-setup';
import { onboarding } from './onboarding';
import { phone } from './phone';
import { profile } from './profile';
import { recovery } from './recovery';
import { templates } from './templates';

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
