// Pages for browsers: the start page, the sign-up script, and the dialog that it opens.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Core } from './core';
import { readBody, sendJson, sendText } from './http';
import { DIALOG_SCRIPT, SDK_SCRIPT } from './sdk';
import type { Account, Token } from './types';

const STEPS = [
  'BUSINESS_ACCOUNT_SELECTION',
  'WABA_PHONE_PROFILE_PICKER',
  'WHATSAPP_BUSINESS_PROFILE_SETUP',
  'PHONE_NUMBER_SETUP',
  'PHONE_NUMBER_VERIFICATION',
  'PERMISSIONS',
];
const SCRIPT_HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': '*',
};
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
};

/** True when the path was one of the pages. */
export function handlePage(
  core: Core,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  query: string,
): boolean {
  if (request.method === 'POST' && path === '/dialog/finish') {
    void finish(core, request, response);
    return true;
  }
  if (request.method !== 'GET') return false;
  switch (path) {
    case '/':
      start(core, request, response);
      return true;
    case '/sdk.js':
    case '/en_US/sdk.js':
      sendText(response, 200, SDK_SCRIPT, SCRIPT_HEADERS);
      return true;
    case '/dialog.js':
      sendText(response, 200, DIALOG_SCRIPT, SCRIPT_HEADERS);
      return true;
    case '/dialog.css':
      sendText(response, 200, STYLE, { 'content-type': 'text/css; charset=utf-8' });
      return true;
    case '/dialog':
      dialog(core, response, new URLSearchParams(query));
      return true;
    case '/favicon.ico':
      sendText(response, 404, '', { 'content-type': 'text/plain' });
      return true;
    default:
      return false;
  }
}

function start(core: Core, request: IncomingMessage, response: ServerResponse): void {
  const about = {
    name: 'upstream emulator',
    what: 'Stands in for the upstream messaging platform: its API, its webhooks, its sign-up dialog.',
    api: `${core.config.public_url}/${core.config.api_version}`,
    control: `${core.config.public_url}/control/state`,
    documentation: 'test/emulator/README.md',
  };
  if (!(request.headers.accept ?? '').includes('text/html')) return sendJson(response, 200, about);
  const body = `<h1>Upstream emulator</h1><p>${about.what}</p>
<ul><li>API: <code>${escape(about.api)}</code></li>
<li>Control: <a href="/control/state"><code>/control/state</code></a></li>
<li>Everything else is in <code>${about.documentation}</code>.</li></ul>`;
  sendText(response, 200, htmlPage('Upstream emulator', body), PAGE_HEADERS);
}

// --- the dialog ---

function dialog(core: Core, response: ServerResponse, query: URLSearchParams): void {
  const problem = problemOf(core, query);
  if (problem) {
    const body = `<h1>This sign-up cannot start</h1><p role="alert">${escape(problem)}</p>`;
    return sendText(response, 400, htmlPage('Sign-up', body), PAGE_HEADERS);
  }
  sendText(response, 200, htmlPage('Connect a number', form(core, query)), PAGE_HEADERS);
}

/** Why the sign-up cannot start, or null: the platform returns no code to a wrong request. */
function problemOf(core: Core, query: URLSearchParams): string | null {
  const { app_id, config_id } = core.config;
  if (query.get('app_id') !== app_id) return 'The app id is not known. Was FB.init called?';
  if (query.get('config_id') !== config_id) return 'The configuration id is not known.';
  if (query.get('response_type') !== 'code') return 'response_type must be code.';
  if (query.get('override_default_response_type') !== 'true') {
    return 'override_default_response_type must be true.';
  }
  if (!/^https?:\/\/[^/]+$/.test(query.get('origin') ?? '')) return 'The opener is not known.';
  return null;
}

function form(core: Core, query: URLSearchParams): string {
  const accounts = [...core.state.accounts.values()].filter((account) => tokenFor(core, account));
  const chosen = accounts.find((account) => isFree(core, account)) ?? accounts[0];
  const options = accounts
    .map((account) => accountOption(core, account, account === chosen))
    .join('');
  const steps = STEPS.map((step) => `<option>${step}</option>`).join('');
  const session = randomBytes(8).toString('hex');
  return `<h1>Connect a number</h1>
<p>This is the emulator's dialog. Choose what a person would do in the real one.</p>
<form id="dialog" data-origin="${escape(query.get('origin') ?? '')}" data-cb="${escape(query.get('cb') ?? '')}" data-session="${session}">
<fieldset><legend>Finish</legend>
<label for="account">Business account</label><select id="account">${options}</select>
<button id="finish" type="button">Finish</button></fieldset>
<fieldset><legend>Cancel</legend>
<label for="step">Step at which the person stops</label><select id="step">${steps}</select>
<button id="cancel" type="button">Cancel at this step</button></fieldset>
<fieldset><legend>Report an error</legend>
<label for="error_message">Message</label><input id="error_message" value="Name not allowed">
<label for="error_code">Code</label><input id="error_code" value="123456">
<button id="error" type="button">Report the error</button></fieldset>
<p><button id="close" type="button">Just close the window</button></p>
<p id="note" role="status" aria-live="polite"></p>
</form><script src="/dialog.js"></script>`;
}

/** Offered first: an account that is not connected, with a number in use in the business app. */
const isFree = (core: Core, account: Account): boolean =>
  !account.subscribed && core.state.numbersOf(account).some(({ is_on_biz_app }) => is_on_biz_app);

function accountOption(core: Core, account: Account, selected: boolean): string {
  const phones = core.state
    .numbersOf(account)
    .map(({ display_phone_number }) => display_phone_number)
    .join(', ');
  return `<option value="${escape(account.id)}"${selected ? ' selected' : ''}>${escape(`${account.id}: ${account.name} (${phones})`)}</option>`;
}

/** A valid token for this account only, with both permissions. */
function tokenFor(core: Core, account: Account): Token | null {
  for (const token of core.state.tokens.values()) {
    if (token.waba_ids === 'all' || token.waba_ids.length !== 1) continue;
    const usable = token.scopes.length === 2 && !token.invalid && token.lists_targets;
    if (usable && token.waba_ids[0] === account.id) return token;
  }
  return null;
}

async function finish(
  core: Core,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { waba_id } = JSON.parse(await readBody(request)) as Record<string, string>;
    const account = core.state.accounts.get(waba_id ?? '');
    const token = account ? tokenFor(core, account) : null;
    if (!account || !token) {
      return sendJson(response, 404, { error: 'The account does not exist or has no token' });
    }
    const code = core.ids.code();
    core.state.addCode(code, token.token);
    sendJson(response, 200, { code });
  } catch {
    sendJson(response, 400, { error: 'The request is not valid' });
  }
}

function htmlPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)}</title><link rel="stylesheet" href="/dialog.css"></head>
<body><main>${body}</main></body></html>
`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

const STYLE = `body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; background: #fff; margin: 0; }
main { max-width: 34rem; margin: 0 auto; padding: 1rem; }
fieldset { border: 1px solid #767676; border-radius: 4px; margin: 0 0 1rem; }
label { display: block; margin-top: 0.5rem; }
select, input { font: inherit; width: 100%; box-sizing: border-box; padding: 0.25rem; }
button { font: inherit; margin-top: 0.75rem; padding: 0.4rem 1rem; }
:focus-visible { outline: 3px solid #0b57d0; outline-offset: 2px; }
`;
