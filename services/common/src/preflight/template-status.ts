// What a `message_template_status_update` of the upstream says about a template.

/** Events that the upstream lists as another status. */
const STATUS_AFTER: Readonly<Record<string, string | undefined>> = {
  REINSTATED: 'APPROVED',
  UNARCHIVED: 'APPROVED',
  // Neither is a status: the template is listed as before.
  FLAGGED: undefined,
  LOCKED: undefined,
};

/** The status of a template after an event; undefined if the event does not change it. */
export const statusAfter = (event: string): string | undefined =>
  event in STATUS_AFTER ? STATUS_AFTER[event] : event;

/** The upstream's events spell a language in both ways, its lists in one. */
export const languageOf = (language: string): string => language.replace('-', '_');
