// The browser script of /sdk.js: window.FB with init and login, for pages that start a sign-up. It
// uses neither eval nor inline styles, so it works under a strict content security policy.

export const SDK_SCRIPT = `(function () {
  'use strict';
  var script = document.currentScript;
  var base = new URL(script ? script.src : location.href).origin;
  var CLOSE_POLL_MS = 300;
  var settings = { appId: '', version: '' };
  var logins = 0;

  function openDialog(options, channel) {
    var query = new URLSearchParams({
      app_id: settings.appId || '',
      config_id: options.config_id || '',
      response_type: options.response_type || '',
      override_default_response_type: String(options.override_default_response_type === true),
      extras: JSON.stringify(options.extras || {}),
      origin: location.origin,
      cb: channel,
    });
    var features = 'popup=yes,width=640,height=760';
    return window.open(base + '/dialog?' + query.toString(), 'emulator_dialog_' + channel, features);
  }

  function login(callback, options) {
    logins += 1;
    var channel = 'f' + Date.now().toString(36) + logins;
    var popup = openDialog(options || {}, channel);
    var timer = 0;
    var done = false;

    function finish(response) {
      if (done) return;
      done = true;
      clearInterval(timer);
      window.removeEventListener('message', onMessage);
      if (typeof callback === 'function') callback(response);
    }

    function onMessage(event) {
      if (event.origin !== base || event.source !== popup || typeof event.data !== 'string') return;
      // The answer is a query string, not JSON: pages must ignore it.
      if (event.data.indexOf('cb=' + channel + '&') !== 0) return;
      var answer = new URLSearchParams(event.data);
      var code = answer.get('code');
      finish({
        authResponse: code ? { code: code, userID: null, expiresIn: null } : null,
        status: answer.get('status') || 'unknown',
      });
    }

    if (!popup) {
      finish({ authResponse: null, status: 'unknown' });
      return;
    }
    window.addEventListener('message', onMessage);
    // A window may close right after its answer: wait one more turn for the message.
    var closed = 0;
    timer = setInterval(function () {
      if (popup.closed) closed += 1;
      if (closed > 1) finish({ authResponse: null, status: 'unknown' });
    }, CLOSE_POLL_MS);
  }

  window.FB = {
    init: function (options) {
      settings = Object.assign({}, settings, options || {});
    },
    login: login,
  };

  if (typeof window.fbAsyncInit === 'function') setTimeout(window.fbAsyncInit, 0);
})();
`;

/** The script of the dialog page itself. */
export const DIALOG_SCRIPT = `(function () {
  'use strict';
  var form = document.getElementById('dialog');
  if (!form) return;
  var data = form.dataset;
  var note = document.getElementById('note');

  function say(text) {
    note.textContent = text;
  }

  function post(text) {
    if (window.opener) window.opener.postMessage(text, data.origin);
  }

  function event(name, details) {
    post(JSON.stringify({ type: 'WA_EMBEDDED_SIGNUP', event: name, version: 3, data: details }));
  }

  function answer(code, status) {
    var query = new URLSearchParams({ cb: data.cb });
    if (code) query.set('code', code);
    query.set('status', status);
    post(query.toString());
  }

  function leave() {
    window.close();
  }

  async function finish() {
    var waba = document.getElementById('account').value;
    say('One moment …');
    var response = await fetch('/dialog/finish', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ waba_id: waba }),
    });
    var result = await response.json();
    if (!response.ok) {
      say(result.error || 'That did not work.');
      return;
    }
    event('FINISH_WHATSAPP_BUSINESS_APP_ONBOARDING', { waba_id: waba });
    answer(result.code, 'connected');
    leave();
  }

  function cancel() {
    event('CANCEL', { current_step: document.getElementById('step').value });
    answer(null, 'unknown');
    leave();
  }

  function report() {
    event('CANCEL', {
      error_message: document.getElementById('error_message').value,
      error_code: document.getElementById('error_code').value,
      session_id: data.session,
      timestamp: String(Math.floor(Date.now() / 1000)),
    });
    answer(null, 'unknown');
    leave();
  }

  function on(id, handler) {
    document.getElementById(id).addEventListener('click', function (click) {
      click.preventDefault();
      handler();
    });
  }

  on('finish', function () {
    finish().catch(function () {
      say('The emulator did not answer.');
    });
  });
  on('cancel', cancel);
  on('error', report);
  on('close', leave);
})();
`;
