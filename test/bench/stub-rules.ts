/** The stub of the upstream posts no statuses of a message with this text. */
export const SILENT = 'no statuses';
