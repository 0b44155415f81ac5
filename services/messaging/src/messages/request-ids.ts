/** The filter of ids that begin with `prefix`; an index of the field answers it. */
export const beginningWith = (prefix: string): { $gte: string; $lt: string } => ({
  $gte: prefix,
  $lt: `${prefix}\uffff`,
});
