// Generated from the OpenAPI document by `make golden`. Do not edit.
export const IDEMPOTENT_PATHS: readonly string[] = [
  '/messages/send',
  '/messages/template',
  '/messages/media',
  '/messages/interactive',
  '/messages/location',
  '/messages/reaction',
  '/messages/read',
  '/media/upload',
  '/templates',
  '/broadcasts',
  '/calls',
  '/groups',
];
