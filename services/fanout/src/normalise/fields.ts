// The table of upstream fields and the functions that read them: the rows of all chapters, and the
// fields that belong to none.
import { accountFields } from './account';
import { contactFields } from './contact-sync';
import { callFields } from './calls';
import { NO_EVENT, type FieldRows } from './context';
import { echoFields } from './echoes';
import { extraFields } from './extra-fields';
import { groupFields } from './groups';
import { handoverFields } from './handovers';
import { historyFields } from './history';
import { limitFields } from './limits';
import { messageFields } from './messages';
import { standbyFields } from './standby';
import { templateFields } from './templates';

const otherFields: FieldRows = {
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
    callFields,
    extraFields,
    otherFields,
  ].flatMap((rows) => Object.entries(rows)),
);
