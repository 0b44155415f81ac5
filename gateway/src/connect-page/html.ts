// The hosted onboarding page, rendered on the server. All that the script needs is in one data attribute;
// everything that a person reads is here, in plain words.
import { createHash } from 'node:crypto';
import { CONNECT_SCRIPT } from './script';
import { CONNECT_STYLE } from './style';

const versionOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 12);

const SCRIPT_VERSION = versionOf(CONNECT_SCRIPT);
const STYLE_VERSION = versionOf(CONNECT_STYLE);

export interface PageConfig {
  token: string;
  app_id: string;
  config_id: string;
  extras: Record<string, unknown>;
  api_version: string;
  sdk_url: string;
  state: string | null;
}

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

const layout = (title: string, body: string, script: boolean): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="connect/page.css?v=${STYLE_VERSION}">
${script ? `<script src="connect/page.js?v=${SCRIPT_VERSION}" defer></script>\n` : ''}</head>
<body>
${body}
</body>
</html>
`;

/** Shown because the link holds a key; it is for whoever made the link, not for the person reading. */
const LEGACY_WARNING = `<p class="warning" role="note"><strong>For the provider of this link:</strong>
links with a partner key in their address are deprecated, because the key gives full access to whoever
reads it. Create links on your server with POST /connect/session.</p>
`;

export function connectHtml(
  config: PageConfig,
  { partner_name, legacy }: { partner_name: string; legacy: boolean },
): string {
  const name = escapeHtml(partner_name);
  return layout(
    `Connect your number to ${partner_name}`,
    `<main id="connect" data-config="${escapeHtml(JSON.stringify(config))}">
<h1>Connect your number to ${name}</h1>
${legacy ? LEGACY_WARNING : ''}<p>You give <strong>${name}</strong> permission to send and receive messages with your business number. You keep using the number in the business app on your phone.</p>
<ol>
<li>Press the button. A sign-up window of the messaging platform opens.</li>
<li>Log in there, choose your business and your number, and confirm on your phone.</li>
<li>Come back to this page: it finishes by itself.</li>
</ol>
<p><button id="start" type="button" disabled>Connect my number</button>
<button id="reload" type="button" hidden>Load the page again</button>
<button id="close" type="button" hidden>Close this window</button></p>
<div id="progress" class="progress" hidden><span></span></div>
<p id="status" class="status" role="status" aria-live="polite" aria-atomic="true" tabindex="-1">Getting the sign-up ready …</p>
<p id="problem" class="problem" role="alert" tabindex="-1" hidden></p>
<noscript><p class="problem">This page needs JavaScript. Switch it on in your browser and load the page again.</p></noscript>
</main>`,
    true,
  );
}

export interface Notice {
  title: string;
  text: string;
  /** For support to recognise. */
  code?: string;
}

export const noticeHtml = ({ title, text, code }: Notice): string =>
  layout(
    title,
    `<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
${code ? `<p class="small">Code: ${escapeHtml(code)}</p>\n` : ''}</main>`,
    false,
  );
