// The table of upstream fields and the functions that read them: the rows of all chapters, and the
// fields that belong to none.

import { accountFields } from './account';
import { contactFields } from './contact-sync';
import { NO_EVENT, type FieldRows } from './context';
import { echoFields } from './echoes';
import { groupFields } from './groups';
import { handoverFields } from './handovers';
import { historyFields } from './history';
import { limitFields } from './limits';
import { messageFields } from './messages';
import { standbyFields } from './standby';
import { templateFields } from './templates';

const otherFields: FieldRows = {
  phone_number_name_update: NO_EVENT,
  security: NO_EVENT,
  calls: NO_EVENT,
  flows: NO_EVENT,
  user_preferences: NO_EVENT,
  payment_configuration_update: NO_EVENT,
  partner_solutions: NO_EVENT,
  automatic_events: NO_EVENT,
  tracking_events: NO_EVENT,
  business_username_updates: NO_EVENT,
  consumer_profile: NO_EVENT,
};

/** A map, because the name of a field comes from the body and may be that of a prototype's key. */
export const FIELDS = new Map(
  [
    messageFields,
    echoFields,
    historyFields,
    contactFields,
    templateFields,
    accountFields,
    limitFields,
    groupFields,
    handoverFields,
    standbyFields,
    otherFields,
  ].flatMap((rows) => Object.entries(rows)),
);
