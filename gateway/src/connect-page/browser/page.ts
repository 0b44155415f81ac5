// The browser's part of the hosted onboarding page. It opens the platform's sign-up dialog inside
// the click, collects the two halves of its answer in either order, sends the code to be exchanged
// at once (it expires within seconds) and reports the outcome to the page that opened this window.

import type {
  Client,
  DialogMessage,
  LoginResponse,
  NoticeConfig,
  PageConfig,
  Registration,
  Sdk,
  SignUp,
} from './types';

const SDK_LOAD_LIMIT_MS = 15_000;
/** How long a code waits for the message that names the account. */
const ACCOUNT_WAIT_MS = 1_000;
/**
 * How long a closed dialog waits for a message that is still in transit, and the other way round.
 */
const LATE_MESSAGE_MS = 600;
const LATE_CODE_MS = 4_000;
const REQUEST_LIMIT_MS = 50_000;
const WATCH_EVERY_MS = 500;
const ATTEMPTS_MAX = 3;
const ANY_ORIGIN = '*';
const TEXT_MAX = 200;
/** The platform's own code is no code of ours. */
const DIALOG_FAILED = 'DIALOG_FAILED';
/** A number is written from the left in every language: U+2066 and U+2069. */
const FROM_LEFT = '\u2066';
const END_OF_ISOLATE = '\u2069';
const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** What the opener learns of a failed registration; a text of our own, never the platform's. */
const FAILED_STEPS: Record<string, readonly [step: string, message: string]> = {
  CODE_EXCHANGE_FAILED: ['CODE_EXCHANGE', 'The code of the sign-up could not be exchanged.'],
  DISCOVERY_FAILED: ['DISCOVERY', 'The account of the sign-up could not be read.'],
};
const REGISTRATION = ['REGISTRATION', 'The number could not be registered.'] as const;

/** Faults of this page and of the dialog, as the service gets them; the opener gets a sentence. */
const FAULTS = {
  SCRIPT_BLOCKED: 'the sign-up script did not load',
  POPUP_BLOCKED: 'the browser blocked the sign-up window',
  NO_CODE: 'the dialog gave no code',
} as const;

const element = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;
const startButton = element('start') as HTMLButtonElement;
const { notice, config = '{}' } = element('connect').dataset;
const page = JSON.parse(notice ?? config) as PageConfig & NoticeConfig;
const { texts } = page;
const sdkWindow = window as Window & { FB?: Sdk; fbAsyncInit?: () => void };
let current: SignUp | null = null;
/** True once the opener knows how the sign-up ended, or that it failed. */
let is_outcome_sent = false;

// --- the person's view ---

function showStatus(text: string, { working = false, done = false } = {}): void {
  const status = element('status');
  status.textContent = text;
  status.className = done ? 'status done' : 'status';
  status.hidden = text === '';
  element('progress').hidden = !working;
  element('problem').hidden = true;
  // On a small screen the message is below the fold. The steps must have their final height first.
  status.scrollIntoView({ block: 'nearest' });
}

/** Marks where the person is in the list of steps; after the last one all are done. */
function showStep(current_step: number): void {
  [...element('steps').children].forEach((item, step) => {
    item.className = step < current_step ? 'done' : '';
    if (step === current_step) item.setAttribute('aria-current', 'step');
    else item.removeAttribute('aria-current');
  });
}

function showProblem(text: string): void {
  showStatus('');
  const problem = element('problem');
  problem.hidden = false;
  problem.textContent = text;
  showStep(0);
  problem.focus();
}

function enableStart(label?: string): void {
  startButton.hidden = false;
  startButton.disabled = false;
  if (label) startButton.textContent = label;
}

// --- messages to the opener, reports to the service ---

/**
 * To the origin that the partner's server named; without one to any origin, as the fields are no
 * secrets: the opener checks the message's origin and `state`.
 */
function postToOpener(type: string, fields: Record<string, unknown>): void {
  if (!window.opener) return;
  is_outcome_sent = true;
  const message = { type, state: page.state, ...fields };
  (window.opener as Window).postMessage(message, page.origin ?? ANY_ORIGIN);
}

function tellError(error: { code: string; message: string }, signUp?: SignUp, step?: string): void {
  postToOpener('SERVICE_CONNECT_ERROR', {
    message: error.message,
    code: error.code,
    upstream_session_id: signUp?.problem?.session || null,
    current_step: step || signUp?.step || null,
  });
}

/**
 * Leads to the partner's page, if the link names one. Going back does not open this page again: the
 * link may be used.
 */
function leadTo(url: string | null, facts: object): void {
  if (url === null) return;
  const target = new URL(url);
  for (const [name, value] of Object.entries(withoutEmpty({ state: page.state, ...facts }))) {
    target.searchParams.set(name, String(value));
  }
  location.replace(target);
}

/**
 * Records a step in the onboarding events. Nothing waits for it, so that it does not delay the
 * person.
 */
function report(kind: string, facts: object = {}): void {
  fetch('connect/events', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-connect-token': page.token },
    body: JSON.stringify({ kind, ...withoutEmpty(facts) }),
    keepalive: true,
  }).catch(() => undefined);
}

/** Reports a fault to the service and to the opener. */
function announce(code: keyof typeof FAULTS, kind: string, signUp?: SignUp): void {
  const fault = FAULTS[code];
  report(kind, { error_code: code, error_message: fault });
  tellError({ code, message: `${fault.charAt(0).toUpperCase()}${fault.slice(1)}.` }, signUp);
}

const withoutEmpty = (facts: object): object =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value));

// --- the platform's script ---

function loadSdk(): void {
  let settled = false;
  const timer = setTimeout(failed, SDK_LOAD_LIMIT_MS);
  /** False if the script has loaded or failed before. */
  const settle = (): boolean => {
    const is_first = !settled;
    settled = true;
    clearTimeout(timer);
    return is_first;
  };
  function failed(): void {
    if (!settle()) return;
    showProblem(texts.script_blocked);
    startButton.hidden = true;
    element('reload').hidden = false;
    announce('SCRIPT_BLOCKED', 'page_failed');
  }
  sdkWindow.fbAsyncInit = () => {
    if (!settle()) return;
    sdkWindow.FB?.init({
      appId: page.app_id,
      autoLogAppEvents: true,
      xfbml: true,
      version: page.api_version,
    });
    showStep(0);
    showStatus(texts.ready);
    enableStart();
  };
  const script = document.createElement('script');
  script.src = page.sdk_url;
  script.async = true;
  script.crossOrigin = 'anonymous';
  script.onerror = failed;
  document.head.append(script);
}

// --- the dialog ---

function start(): void {
  if (current && !current.ended) return;
  const signUp: SignUp = { step: null, registering: false, ended: false };
  current = signUp;
  is_outcome_sent = false;
  startButton.disabled = true;
  showStep(1);
  showStatus(texts.dialog_open, { working: true });
  const opened = watchWindowOpen(() =>
    sdkWindow.FB?.login((response) => onAnswer(signUp, response), {
      config_id: page.config_id,
      response_type: 'code',
      override_default_response_type: true,
      extras: page.extras,
    }),
  );
  if (opened.called && !opened.window) return popupBlocked(signUp);
  report('dialog_opened');
  if (opened.window) watchWindow(signUp, opened.window);
}

/**
 * A closed dialog whose script never answers must not leave the person waiting. A code still
 * counts.
 */
function watchWindow(signUp: SignUp, dialog: Window): void {
  const timer = setInterval(() => {
    if (signUp.ended || signUp.registering) clearInterval(timer);
    else if (dialog.closed) {
      clearInterval(timer);
      setTimeout(() => endWithoutCode(signUp), LATE_CODE_MS);
    }
  }, WATCH_EVERY_MS);
}

/** Only `window.open` itself shows whether the browser blocked the platform's window. */
function watchWindowOpen(work: () => void): { called: boolean; window: Window | null } {
  const original = window.open;
  const opened = { called: false, window: null as Window | null };
  window.open = (...args: Parameters<typeof original>) => {
    opened.called = true;
    opened.window = original.apply(window, args);
    return opened.window;
  };
  try {
    work();
  } finally {
    window.open = original;
  }
  return opened;
}

function popupBlocked(signUp: SignUp): void {
  signUp.ended = true;
  showProblem(texts.popup_blocked);
  enableStart(texts.try_again);
  announce('POPUP_BLOCKED', 'page_failed');
}

/** The answer to `login`: a code when the person finished, none when the dialog was closed. */
function onAnswer(signUp: SignUp, response: LoginResponse | null): void {
  const code = response?.authResponse?.code;
  if (!code) {
    setTimeout(() => endWithoutCode(signUp), LATE_MESSAGE_MS);
    return;
  }
  if (signUp.code) return;
  signUp.code = code;
  if (signUp.account) void complete(signUp);
  else setTimeout(() => void complete(signUp), ACCOUNT_WAIT_MS);
}

function onMessage({ origin, data: text }: MessageEvent): void {
  if (!current || typeof text !== 'string') return;
  const message = messageOf(origin, text);
  if (message?.type !== 'WA_EMBEDDED_SIGNUP') return;
  const data = message.data ?? {};
  if (String(message.event).startsWith('FINISH')) onFinished(current, data);
  else if (message.event === 'CANCEL' || message.event === 'ERROR') {
    onInterrupted(current, message.event, data);
  }
}

/** Null for a message of another page; the platform posts other texts too. */
function messageOf(origin: string, text: string): DialogMessage | null {
  try {
    const { protocol, hostname } = new URL(origin);
    const is_platform =
      origin === new URL(page.sdk_url).origin ||
      (protocol === 'https:' &&
        (hostname === 'facebook.com' || hostname.endsWith('.facebook.com')));
    return is_platform ? (JSON.parse(text) as DialogMessage | null) : null;
  } catch {
    return null;
  }
}

function onFinished(signUp: SignUp, data: Record<string, unknown>): void {
  const [waba_id, phone_number_id] = [data['waba_id'], data['phone_number_id']].map(idOrNothing);
  signUp.account = { waba_id, phone_number_id };
  report('dialog_finished', signUp.account);
  if (signUp.code) void complete(signUp);
}

function onInterrupted(signUp: SignUp, event: string, data: Record<string, unknown>): void {
  if (signUp.code) return;
  signUp.step = shortText(data['current_step']);
  const code = shortText(data['error_code']) || shortText(data['error_id']);
  if (event === 'ERROR' || code || data['error_message']) {
    signUp.problem = {
      code,
      message: shortText(data['error_message']) || 'The sign-up reported an error.',
      session: shortText(data['session_id']),
    };
  }
  // The dialog usually answers `login` as well; some versions never do.
  setTimeout(() => endWithoutCode(signUp), LATE_CODE_MS);
}

const shortText = (value: unknown): string | null =>
  value === undefined || value === null ? null : String(value).slice(0, TEXT_MAX);

const idOrNothing = (value: unknown): string | undefined =>
  ID.test(String(value)) ? String(value) : undefined;

// --- outcomes ---

function endWithoutCode(signUp: SignUp): void {
  if (signUp.ended || signUp.code) return;
  signUp.ended = true;
  enableStart(texts.try_again);
  if (signUp.problem) {
    const { code, message, session } = signUp.problem;
    showProblem(texts.dialog_failed.replace('{message}', () => message));
    report('dialog_failed', {
      error_code: code,
      error_message: message,
      upstream_session_id: session,
      current_step: signUp.step,
    });
    const failure = { code: code || DIALOG_FAILED, message: 'The sign-up dialog failed.' };
    tellError(failure, signUp);
    return leadTo(page.failure_url, { code: DIALOG_FAILED });
  }
  if (signUp.account) {
    showProblem(texts.no_code);
    announce('NO_CODE', 'dialog_failed', signUp);
    return leadTo(page.failure_url, { code: DIALOG_FAILED });
  }
  showStatus(texts.dialog_closed);
  startButton.focus();
  report('dialog_cancelled', { current_step: signUp.step });
  postToOpener('SERVICE_CONNECT_CANCEL', {
    reason: signUp.step ? 'cancelled' : 'dialog_closed',
    current_step: signUp.step,
  });
  leadTo(page.failure_url, { code: 'DIALOG_CANCELLED' });
}

async function complete(signUp: SignUp): Promise<void> {
  if (signUp.registering) return;
  signUp.registering = true;
  showStep(2);
  showStatus(texts.connecting, { working: true });
  const answer = await register(signUp);
  signUp.ended = true;
  if (answer.success) return succeeded(answer.client);
  const { code, message: reason, retryable } = answer.error;
  // The service reports the other failures itself.
  if (retryable) report('page_failed', { error_code: code, error_message: reason });
  showProblem(`${texts.not_connected} ${texts.failures[code] ?? texts.other_failure}`);
  if (code === 'UNAUTHORIZED') startButton.hidden = true;
  else enableStart(texts.try_again);
  const [step, message] = FAILED_STEPS[code] ?? REGISTRATION;
  tellError({ code, message }, signUp, step);
  leadTo(page.failure_url, { code });
}

function succeeded({ phone_number, quality_rating, connection_mode, ...client }: Client): void {
  const { waba_id, phone_number_id, display_name } = client;
  startButton.hidden = true;
  showStep(element('steps').children.length);
  element('close').hidden = !window.opener;
  const done = texts.done.replace('{name}', () => display_name || texts.your_number);
  showStatus(`${done}\n${FROM_LEFT}+${phone_number}${END_OF_ISOLATE}`, { done: true });
  element('status').focus();
  const facts = { waba_id, phone_number_id, display_name, quality_rating, connection_mode };
  postToOpener('SERVICE_CONNECT_SUCCESS', facts);
  leadTo(page.success_url, { waba_id, phone_number_id });
}

/** Safe to repeat: for the same code the service continues, or answers the same client again. */
async function register(signUp: SignUp): Promise<Registration> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await registerOnce(signUp);
    if (answer.success || !answer.error.retryable || attempt === ATTEMPTS_MAX) return answer;
    await new Promise((resolve) => setTimeout(resolve, attempt * 1_000));
  }
}

async function registerOnce(signUp: SignUp): Promise<Registration> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), REQUEST_LIMIT_MS);
  try {
    const response = await fetch('v1/clients/register-from-code', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-connect-token': page.token },
      body: JSON.stringify({ code: signUp.code, ...withoutEmpty(signUp.account ?? {}) }),
      signal: abort.signal,
    });
    return (await response.json()) as Registration;
  } catch {
    const message = 'the service could not be reached';
    return { success: false, error: { code: 'NO_ANSWER', message, retryable: true } };
  } finally {
    clearTimeout(timer);
  }
}

/** A closed window must not leave the opener waiting. */
function tellClosed(): void {
  if (is_outcome_sent) return;
  postToOpener('SERVICE_CONNECT_CANCEL', {
    reason: current?.registering ? 'closed_while_connecting' : 'window_closed',
    current_step: current?.step ?? null,
  });
}

if (notice === undefined) {
  window.addEventListener('message', onMessage);
  window.addEventListener('pagehide', tellClosed);
  startButton.addEventListener('click', start);
  element('reload').addEventListener('click', () => location.reload());
  element('close').addEventListener('click', () => window.close());
  loadSdk();
} else tellError(page);
