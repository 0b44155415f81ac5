// The texts of the onboarding page and its notices, one file for each language.
import type { PageTexts } from '../browser/page';

/** Why a link cannot be used. */
type NoticeKind =
  'incomplete' | 'expired' | 'used' | 'unknown_key' | 'blocked' | 'not_configured' | 'fault';

/** `{partner}` stands for the partner's name. */
export interface Texts extends PageTexts {
  title: string;
  permission: string;
  steps: readonly [string, string, string];
  connect: string;
  reload: string;
  close: string;
  preparing: string;
  no_javascript: string;
  code: string;
  notices: Record<NoticeKind, { title: string; text: string }>;
}
