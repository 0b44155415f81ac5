// What an API key may be allowed to do. The partner key has all scopes.
export const KEY_SCOPES = ['send', 'read', 'manage', 'billing'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export const isKeyScope = (text: string): text is KeyScope =>
  (KEY_SCOPES as readonly string[]).includes(text);
