// Renders the hosted onboarding page and its notices from page.html and notice.html. The page's
// script finds everything it needs in one data attribute, so that nothing is inline.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tokensCss } from '../design/css';
import type { NoticeConfig, PageConfig, PageTexts } from './browser/types';
import { directionOf, LANGUAGES } from './texts';
import { en, type Texts } from './texts/en';

/**
 * Resolves to one folder from src/ and dist/: HTML and CSS stay in src/, the script is compiled to
 * dist/.
 */
const GATEWAY = resolve(__dirname, '../..');
const read = (path: string): string => readFileSync(join(GATEWAY, path), 'utf8');

/** What is shown instead of the page when a link cannot be used. */
export interface Notice {
  kind: keyof Texts['notices'];
  /** An error code that support recognises. */
  code?: string;
  /** `code` in the report to the page that opened this one. */
  reason: string;
}

export const INCOMPLETE_LINK: Notice = { kind: 'incomplete', reason: 'LINK_INCOMPLETE' };
export const EXPIRED_LINK: Notice = { kind: 'expired', reason: 'LINK_EXPIRED' };
export const USED_LINK: Notice = { kind: 'used', reason: 'LINK_USED' };

const KIND_OF_ERROR: Partial<Record<string, Notice['kind']>> = {
  INVALID_KEY: 'unknown_key',
  PLATFORM_NOT_CONFIGURED: 'not_configured',
  PARTNER_SUSPENDED: 'blocked',
  SUBSCRIPTION_CANCELLED: 'blocked',
  TRIAL_EXPIRED: 'blocked',
};

/** The error's own message is for partners: a person gets plain words, and the code for support. */
export const noticeOf = (code: string): Notice => ({
  code,
  reason: code,
  kind: KIND_OF_ERROR[code] ?? 'fault',
});

interface Shown {
  partner_name: string;
  logo_id?: string | undefined;
  legacy: boolean;
  language: string;
}

/** `state` is on the message to the opener, `origin` the only one that gets it. */
export interface Opener {
  state?: string | undefined;
  origin?: string | undefined;
}

export type ConnectHtml = ReturnType<typeof loadConnectHtml>;

/** Reads the page's files; throws if the gateway is not built. */
export function loadConnectHtml() {
  const script = read('dist/connect-page/browser/page.js');
  const style = `${tokensCss()}${read('src/connect-page/page.css')}`;
  const page = read('src/connect-page/page.html');
  const notice = read('src/connect-page/notice.html');
  const versions = { script_version: versionOf(script), style_version: versionOf(style) };
  return {
    script,
    style,
    page(
      config: Omit<PageConfig, 'texts'>,
      { partner_name, logo_id, legacy, language }: Shown,
    ): string {
      const texts = textsOf(language);
      const named = (text: string): string =>
        text.replaceAll('{partner}', () => isolated(partner_name, language));
      const [step_1, step_2, step_3] = texts.steps;
      return fill(page, {
        ...versions,
        ...texts,
        language,
        direction: directionOf(language),
        title: named(texts.title),
        permission: named(texts.permission),
        step_1,
        step_2,
        step_3,
        config: JSON.stringify({ ...config, texts: browserTexts(texts) }),
        logo_id,
        // Shown for links that hold a partner key: it addresses the partner who made the link.
        legacy: legacy ? 'yes' : undefined,
      });
    },
    notice(
      { kind, code, reason }: Notice,
      { language, state, origin }: Opener & { language: string },
    ): string {
      const texts = textsOf(language);
      const { title, text } = texts.notices[kind];
      // The opener's log is in English, whatever the language of the browser.
      const message = en.notices[kind].title;
      const opener = { state: state ?? null, origin: origin ?? null };
      const config: NoticeConfig = { ...opener, code: reason, message };
      return fill(notice, {
        ...versions,
        language,
        direction: directionOf(language),
        title,
        text,
        code,
        code_label: texts.code,
        config: JSON.stringify(config),
      });
    },
  };
}

/** A name in Latin letters must not change the order of the words of an Arabic sentence. */
const isolated = (name: string, language: string): string =>
  directionOf(language) === 'rtl' ? `\u2068${name}\u2069` : name;

const textsOf = (language: string): Texts => LANGUAGES[language] ?? en;

/** The data that the page's script needs; the rest is in the page. */
const browserTexts = ({ notices: _notices, steps: _steps, ...texts }: Texts): PageTexts => texts;

/** Part of the files' addresses, so that browsers may cache them for ever. */
const versionOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 12);

/** Fills `{{name}}`, escaped; keeps `<!-- if name -->…<!-- end -->` only if the value is set. */
const fill = (template: string, values: Record<string, unknown>): string =>
  template
    .replace(/ *<!-- if (\w+) -->\n([^]*?) *<!-- end -->\n/g, (_all, name: string, part: string) =>
      values[name] === undefined ? '' : part,
    )
    .replace(/\{\{(\w+)\}\}/g, (_all, name: string) => escapeHtml(String(values[name])));

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
