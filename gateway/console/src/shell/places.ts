// Where the console can be left for: its screens, and what an ID or a phone number leads to. Pure.
import type { Scope } from '../api/types';
import type { Search } from '../search';

export interface Place {
  to: string;
  search?: Search;
  label: string;
  /** The screen shows nothing without it; null needs none. */
  scope: Scope | null;
}

/** The entries of the navigation. */
export const SCREENS = [
  { to: '/', label: 'Overview', scope: 'read' },
  { to: '/numbers', label: 'Numbers', scope: 'read' },
  { to: '/messages', label: 'Messages', scope: 'read' },
  { to: '/events', label: 'Events', scope: 'read' },
  { to: '/problems', label: 'What broke', scope: 'read' },
  { to: '/broadcasts', label: 'Broadcasts', scope: 'read' },
  { to: '/templates', label: 'Templates', scope: 'read' },
  { to: '/usage', label: 'Usage', scope: 'billing' },
  { to: '/settings', label: 'Settings', scope: null },
  { to: '/developers', label: 'Developers', scope: 'read' },
] as const satisfies readonly Place[];

/** The pages of the settings, in the order of their own navigation. */
export const SETTINGS = [
  { to: '/settings/profile', label: 'Profile', scope: null },
  { to: '/settings/receivers', label: 'Receivers', scope: 'read' },
  { to: '/settings/alerts', label: 'Alerts', scope: 'read' },
  { to: '/settings/sign-up', label: 'Sign-up page', scope: 'read' },
  { to: '/settings/keys', label: 'API keys', scope: 'manage' },
  { to: '/settings/people', label: 'People', scope: 'manage' },
  { to: '/settings/billing', label: 'Invoices', scope: 'billing' },
  { to: '/settings/audit', label: 'Audit log', scope: 'manage' },
] as const satisfies readonly Place[];

/** The screens that the navigation has no entry for. */
export const MORE_SCREENS: readonly Place[] = [
  { to: '/messages/new', label: 'New message', scope: 'send' },
  { to: '/broadcasts/new', label: 'New broadcast', scope: 'send' },
  { to: '/messages/conversation', label: 'Conversation', scope: 'read' },
  { to: '/events/failed', label: 'Failed deliveries', scope: 'read' },
  { to: '/usage/ledger', label: 'Ledger', scope: 'billing' },
  { to: '/usage/prices', label: 'Prices', scope: 'read' },
  ...SETTINGS,
  { to: '/settings/receivers/webhook', label: 'Webhook address', scope: 'read' },
];

/** The screen of a route; undefined if there is none. That of one item is with its list. */
export function placeAt(route: string): Place | undefined {
  const path = route.replace(/\/\$\w+$/, '');
  return [...SCREENS, ...MORE_SCREENS].find(({ to }) => to === path);
}

/** People write phone numbers with spaces, brackets and dashes. */
const PHONE = /^\+?[\d\s().-]{7,24}$/;
const DIGITS_MIN = 7;
/** The gateway's own request IDs; callers may send others. */
const REQUEST = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const BROADCAST = /^#?(\d{1,6})$/;

/** The places that the text itself names: a message, an event, a call, a customer, a broadcast. */
export function namedPlaces(text: string): Place[] {
  const read = (to: string, search: Search, label: string): Place => ({
    ...{ to, search, label },
    scope: 'read',
  });
  if (text.startsWith('wamid.')) return [read('/messages', { open: text }, `Message ${text}`)];
  if (REQUEST.test(text)) return [read('/developers', { find: text }, `Request ${text}`)];
  if (text.startsWith('evt_')) return [read('/events', { open: text }, `Event ${text}`)];
  const [, broadcast] = BROADCAST.exec(text) ?? [];
  if (broadcast) return [read('/broadcasts', { open: broadcast }, `Broadcast ${broadcast}`)];
  const digits = text.replaceAll(/\D/g, '');
  if (!PHONE.test(text) || digits.length < DIGITS_MIN) return [];
  return [
    read('/messages/conversation', { find: digits }, `Conversation with +${digits}`),
    read('/messages', { find: digits }, `Messages to +${digits}`),
  ];
}

/** Those whose label has each word of the text, or the beginning of one. */
export function placesWith(text: string, places: readonly Place[]): Place[] {
  const wanted = text.toLowerCase().split(/\s+/);
  return places.filter(({ label }) => {
    const words = label.toLowerCase().split(' ');
    return wanted.every((one) => words.some((word) => word.startsWith(one)));
  });
}
