// First part of the hosted page's script: what the person sees, whom to tell, the platform's own script.
export const PAGE_PART = String.raw`  const SDK_WAIT_MS = 15000;
  // How long a code waits for the message that names the account: the code alone is enough.
  const CLAIM_WAIT_MS = 1000;
  // How long a closed dialog waits for a message that is still on its way, and the other way round.
  const LATE_MESSAGE_MS = 600;
  const LATE_ANSWER_MS = 4000;
  const REQUEST_WAIT_MS = 50000;
  const TRIES_MAX = 3;
  const TEXT_MAX = 200;
  const ID = /^[A-Za-z0-9_-]{1,64}$/;
  const STEP_OF = { CODE_EXCHANGE_FAILED: 'CODE_EXCHANGE', DISCOVERY_FAILED: 'DISCOVERY' };

  const element = (id) => document.getElementById(id);
  const config = JSON.parse(element('connect').dataset.config);
  const sdkOrigin = new URL(config.sdk_url).origin;
  const openerOrigin = findOpenerOrigin();
  let attempt = null;

  // --- what the person sees ---

  function show(text, options) {
    const { working = false, done = false } = options || {};
    element('status').textContent = text;
    element('status').className = done ? 'status done' : 'status';
    element('status').hidden = text === '';
    element('progress').hidden = !working;
    element('problem').hidden = true;
  }

  function showProblem(text) {
    show('');
    const problem = element('problem');
    problem.hidden = false;
    problem.textContent = text;
  }

  function offer(text) {
    const button = element('start');
    button.hidden = false;
    button.disabled = false;
    if (text) button.textContent = text;
  }

  function withdraw() {
    element('start').disabled = true;
  }

  // --- whom to tell ---

  // The opener's own address where it may be read, else where this page was opened from. Nobody else is
  // to hear the outcome; only where neither is known it goes to whoever has opened the window.
  function findOpenerOrigin() {
    if (!window.opener) return null;
    try {
      const own = window.opener.location.origin;
      if (own && own !== 'null') return own;
    } catch (error) {
      // Another origin: what follows tells which.
    }
    try {
      const from = new URL(document.referrer).origin;
      if (from !== 'null' && from !== location.origin) return from;
    } catch (error) {
      // No referrer.
    }
    return '*';
  }

  function tellOpener(type, fields) {
    if (!window.opener || !openerOrigin) return;
    window.opener.postMessage(Object.assign({ type: type, state: config.state }, fields), openerOrigin);
  }

  function report(kind, facts) {
    fetch('connect/events', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-connect-token': config.token },
      body: JSON.stringify(Object.assign({ kind: kind }, known(facts || {}))),
      keepalive: true,
    }).catch(() => undefined);
  }

  function known(facts) {
    return Object.fromEntries(Object.entries(facts).filter(([, value]) => value));
  }

  // --- the platform's script ---

  function loadSdk() {
    let ready = false;
    const timer = setTimeout(() => failed(), SDK_WAIT_MS);
    const failed = () => {
      if (ready) return;
      ready = true;
      clearTimeout(timer);
      showProblem(
        'The sign-up of the messaging platform could not be loaded. A content blocker, a private window ' +
          'or a company network may be in the way. Allow this page, or use another browser, and load it again.'
      );
      element('start').hidden = true;
      element('reload').hidden = false;
      report('page_failed', { error_code: 'SCRIPT_BLOCKED', error_message: 'the sign-up script did not load' });
      tellError({ code: 'SCRIPT_BLOCKED', message: 'The sign-up script did not load.' });
    };
    window.fbAsyncInit = () => {
      if (ready) return;
      ready = true;
      clearTimeout(timer);
      window.FB.init({
        appId: config.app_id,
        autoLogAppEvents: true,
        xfbml: true,
        version: config.api_version,
      });
      show('Ready. The sign-up opens in a new window.');
      offer();
    };
    const script = document.createElement('script');
    script.src = config.sdk_url;
    script.async = true;
    script.crossOrigin = 'anonymous';
    script.onerror = failed;
    document.head.append(script);
  }
`;
