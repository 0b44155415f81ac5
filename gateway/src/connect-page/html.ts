// Renders the hosted onboarding page and its notices from page.html and notice.html. The page's script
// finds everything it needs in one data attribute, so that nothing is inline.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { NoticeConfig, PageConfig } from './browser/page';

/** The same from src/ and from dist/: HTML and CSS stay in src/, the script is compiled to dist/. */
const GATEWAY = resolve(__dirname, '../..');
const read = (path: string): string => readFileSync(join(GATEWAY, path), 'utf8');

export interface Notice {
  title: string;
  text: string;
  /** An error code that support recognises. */
  code?: string;
  /** What the page that opened this one is told as `code`. */
  reason: string;
}

export interface ConnectHtml {
  script: string;
  style: string;
  page(config: PageConfig, shown: { partner_name: string; legacy: boolean }): string;
  /** `state` is on the message to the opener. */
  notice(notice: Notice, state?: string): string;
}

/** Reads the page's files; throws where the gateway is not built. */
export function loadConnectHtml(): ConnectHtml {
  const script = read('dist/connect-page/browser/page.js');
  const style = read('src/connect-page/page.css');
  const page = read('src/connect-page/page.html');
  const notice = read('src/connect-page/notice.html');
  const versions = { script_version: versionOf(script), style_version: versionOf(style) };
  return {
    script,
    style,
    page: (config, { partner_name, legacy }) =>
      fill(page, {
        ...versions,
        partner_name,
        config: JSON.stringify(config),
        // Shown for links that hold a partner key: it addresses the partner who made the link.
        legacy: legacy ? 'yes' : undefined,
      }),
    notice({ title, text, code, reason }, state) {
      const config: NoticeConfig = { state: state ?? null, code: reason, message: title };
      return fill(notice, { ...versions, title, text, code, config: JSON.stringify(config) });
    },
  };
}

/** Part of the files' addresses, so that browsers may cache them for ever. */
const versionOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 12);

/** Fills `{{name}}`, escaped; keeps `<!-- if name -->…<!-- end -->` only where the value is set. */
const fill = (template: string, values: Record<string, string | undefined>): string =>
  template
    .replace(/ *<!-- if (\w+) -->\n([^]*?) *<!-- end -->\n/g, (_all, name: string, part: string) =>
      values[name] === undefined ? '' : part,
    )
    .replace(/\{\{(\w+)\}\}/g, (_all, name: string) => escapeHtml(values[name] as string));

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
