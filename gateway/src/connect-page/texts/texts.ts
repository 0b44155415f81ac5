// The texts of the onboarding page and its notices, one file for each language.
import type { PageTexts } from '../browser/page';

export interface NoticeText {
  title: string;
  text: string;
}

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
  notices: {
    incomplete: NoticeText;
    expired: NoticeText;
    used: NoticeText;
    unknown_key: NoticeText;
    blocked: NoticeText;
    not_configured: NoticeText;
    fault: NoticeText;
  };
}
