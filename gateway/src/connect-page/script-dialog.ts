// Second part of the hosted page's script: the dialog, the two halves of its answer, and the outcomes.
export const DIALOG_PART = String.raw`  // --- the dialog ---

  function start() {
    if (attempt && !attempt.over) return;
    const current = { code: null, claim: null, problem: null, step: null, over: false };
    attempt = current;
    withdraw();
    show('The sign-up is open in another window. Please finish it there.', { working: true });
    const opened = watchingOpen(() => {
      window.FB.login((response) => onAnswer(current, response), {
        config_id: config.config_id,
        response_type: 'code',
        override_default_response_type: true,
        extras: config.extras,
      });
    });
    if (opened.called && !opened.window) return popupBlocked(current);
    report('dialog_opened');
  }

  // Whether the browser has let the platform open its window: only window.open itself tells.
  function watchingOpen(work) {
    const original = window.open;
    const opened = { called: false, window: null };
    window.open = function () {
      opened.called = true;
      opened.window = original.apply(window, arguments);
      return opened.window;
    };
    try {
      work();
    } finally {
      window.open = original;
    }
    return opened;
  }

  function popupBlocked(current) {
    current.over = true;
    showProblem(
      'Your browser has blocked the sign-up window. Allow pop-up windows for this page, then press the button again.'
    );
    offer('Try again');
    report('page_failed', { error_code: 'POPUP_BLOCKED', error_message: 'the browser blocked the sign-up window' });
    tellError({ code: 'POPUP_BLOCKED', message: 'The browser blocked the sign-up window.' });
  }

  function onAnswer(current, response) {
    const code = response && response.authResponse && response.authResponse.code;
    if (!code) return void setTimeout(() => left(current), LATE_MESSAGE_MS);
    if (current.code) return;
    current.code = code;
    if (current.claim) complete(current);
    else setTimeout(() => complete(current), CLAIM_WAIT_MS);
  }

  function isPlatform(origin) {
    if (origin === sdkOrigin) return true;
    try {
      const url = new URL(origin);
      const host = url.hostname;
      return url.protocol === 'https:' && (host === 'facebook.com' || host.endsWith('.facebook.com'));
    } catch (error) {
      return false;
    }
  }

  function onMessage(event) {
    const current = attempt;
    if (!current || !isPlatform(event.origin) || typeof event.data !== 'string') return;
    let message;
    try {
      message = JSON.parse(event.data);
    } catch (error) {
      return; // The platform sends other texts as well.
    }
    if (!message || message.type !== 'WA_EMBEDDED_SIGNUP') return;
    const data = message.data || {};
    if (String(message.event).indexOf('FINISH') === 0) return onFinished(current, data);
    if (message.event !== 'CANCEL' && message.event !== 'ERROR') return;
    if (current.code) return;
    current.step = text(data.current_step);
    const code = text(data.error_code) || text(data.error_id);
    if (message.event === 'ERROR' || code || data.error_message) {
      current.problem = {
        code: code,
        message: text(data.error_message) || 'The sign-up reported an error.',
        session: text(data.session_id),
      };
    }
    // The dialog usually answers by itself; some never do.
    setTimeout(() => left(current), LATE_ANSWER_MS);
  }

  function onFinished(current, data) {
    current.claim = { waba_id: idOf(data.waba_id), phone_number_id: idOf(data.phone_number_id) };
    report('dialog_finished', current.claim);
    if (current.code) complete(current);
  }

  function text(value) {
    return value === undefined || value === null ? null : String(value).slice(0, TEXT_MAX);
  }

  function idOf(value) {
    return ID.test(String(value)) ? String(value) : undefined;
  }

  // --- outcomes ---

  const ASK = ' Please tell your provider.';
  const WORDS = {
    CODE_EXCHANGE_FAILED: 'The confirmation of the sign-up came too late or was used before. Please try again.',
    DISCOVERY_FAILED:
      'The sign-up left no business account or no number. Please try again, and choose both in the sign-up window.',
    UNAUTHORIZED: 'This link has been used or is too old. Please ask your provider for a new one.',
    WABA_LIMIT_REACHED: 'Your provider cannot connect more businesses at the moment.' + ASK,
    PLATFORM_NOT_CONFIGURED: 'The service is not set up for it yet.' + ASK,
    UPSTREAM_ERROR: 'The messaging platform did not accept it. Please try again in a moment.',
    NO_ANSWER: 'The service could not be reached. Please check your connection and try again.',
    OTHER: 'Something went wrong on our side. Please try again in a moment.' + ASK,
  };

  function left(current) {
    if (current.over || current.code) return;
    current.over = true;
    offer('Try again');
    if (current.problem) {
      const { code, message, session } = current.problem;
      showProblem('The sign-up ended with an error: ' + message);
      report('dialog_failed', {
        error_code: code,
        error_message: message,
        upstream_session_id: session,
        current_step: current.step,
      });
      return tellError({ code: code || 'DIALOG_FAILED', message: message }, current);
    }
    if (current.claim) {
      showProblem('The sign-up finished, but the permission did not arrive. Please try again.');
      report('dialog_failed', { error_code: 'NO_CODE', error_message: 'the dialog gave no code' });
      return tellError({ code: 'NO_CODE', message: 'The dialog gave no code.' }, current);
    }
    show('The sign-up was closed before it was finished. Nothing was connected. You can try again.');
    element('start').focus();
    report('dialog_cancelled', { current_step: current.step });
    tellOpener('SERVICE_CONNECT_CANCEL', {
      reason: current.step ? 'cancelled' : 'dialog_closed',
      current_step: current.step,
    });
  }

  function tellError(error, current) {
    tellOpener('SERVICE_CONNECT_ERROR', {
      message: error.message,
      code: error.code,
      upstream_session_id: (current && current.problem && current.problem.session) || null,
      current_step: error.step || (current && current.step) || null,
    });
  }

  async function complete(current) {
    if (current.completing) return;
    current.completing = true;
    show('Connecting your number. This takes some seconds: please leave this page open.', { working: true });
    const answer = await register(current);
    current.over = true;
    if (answer.success) return succeeded(answer.client);
    const { code, message } = answer.error;
    showProblem('Your number could not be connected. ' + (WORDS[code] || WORDS.OTHER));
    element('problem').focus();
    if (code === 'UNAUTHORIZED') element('start').hidden = true;
    else offer('Try again');
    tellError({ code: code, message: message, step: STEP_OF[code] || 'REGISTRATION' }, current);
  }

  function succeeded(client) {
    const { waba_id, phone_number_id, display_name, quality_rating, connection_mode } = client;
    element('start').hidden = true;
    element('close').hidden = !window.opener;
    show('Done. ' + (display_name || 'Your number') + ' is connected. You can close this window.', { done: true });
    element('status').focus();
    tellOpener('SERVICE_CONNECT_SUCCESS', {
      waba_id,
      phone_number_id,
      display_name,
      quality_rating,
      connection_mode,
    });
  }

  // The same code may be sent again: the service answers the same client, or goes on where it was cut off.
  async function register(current) {
    let answer;
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      answer = await registerOnce(current);
      if (answer.success || !answer.error.retryable || tries === TRIES_MAX) break;
      await new Promise((resolve) => setTimeout(resolve, tries * 1000));
    }
    return answer;
  }

  async function registerOnce(current) {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), REQUEST_WAIT_MS);
    try {
      const response = await fetch('v1/clients/register-from-code', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-connect-token': config.token },
        body: JSON.stringify(Object.assign({ code: current.code }, known(current.claim || {}))),
        signal: abort.signal,
      });
      return await response.json();
    } catch (error) {
      const message = 'the service could not be reached';
      return { success: false, error: { code: 'NO_ANSWER', message: message, retryable: true } };
    } finally {
      clearTimeout(timer);
    }
  }

  window.addEventListener('message', onMessage);
  element('start').addEventListener('click', start);
  element('reload').addEventListener('click', () => location.reload());
  element('close').addEventListener('click', () => window.close());
  loadSdk();
`;
