import { createContext, runInContext } from 'node:vm';
import { request } from 'undici';
import { apiOf, eventually, ONE, startWorld, type Any, type World } from './test-support';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const OPTIONS = {
  config_id: 'config-local',
  response_type: 'code',
  override_default_response_type: true,
  extras: { setup: {}, featureType: 'whatsapp_business_app_onboarding', sessionInfoVersion: '3' },
};

async function get(path: string) {
  const response = await request(world.emulator.url + path);
  return {
    status: response.statusCode,
    headers: response.headers,
    text: await response.body.text(),
  };
}

/** The parts of a browser window that the script uses. */
async function openPage() {
  const listeners: Array<(event: Any) => void> = [];
  const popup = { closed: false };
  const opened: string[] = [];
  const window: Any = {
    open: (url: string) => {
      opened.push(url);
      return popup;
    },
    addEventListener: (_type: string, listener: (event: Any) => void) => listeners.push(listener),
    removeEventListener: (_type: string, listener: (event: Any) => void) =>
      listeners.splice(listeners.indexOf(listener), 1),
  };
  const context = createContext({
    window,
    document: { currentScript: { src: `${world.emulator.url}/sdk.js` } },
    location: { origin: 'http://page.example', href: 'http://page.example/' },
    URL,
    URLSearchParams,
    setTimeout,
    setInterval,
    clearInterval,
  });
  runInContext((await get('/sdk.js')).text, context);
  return {
    window,
    popup,
    opened,
    listeners,
    message: (data: string, origin = world.emulator.url, source: unknown = popup) => {
      for (const listener of [...listeners]) listener({ data, origin, source });
    },
  };
}

describe('the sign-up script', () => {
  it('is served as a script that a strict content security policy allows', async () => {
    const { status, headers, text } = await get('/sdk.js');
    expect(status).toBe(200);
    expect(headers['content-type']).toContain('javascript');
    expect(text).not.toMatch(/\beval\b|new Function|\.style\b/);
  });

  it('opens the dialog and passes the returned code to the callback', async () => {
    const page = await openPage();
    const answers: Any[] = [];
    page.window.FB.init({ appId: 'app-local', version: 'v26.0' });
    page.window.FB.login((answer: Any) => answers.push(answer), OPTIONS);
    const url = new URL(page.opened[0] as string);
    expect(url.origin + url.pathname).toBe(`${world.emulator.url}/dialog`);
    expect(url.searchParams.get('app_id')).toBe('app-local');
    expect(url.searchParams.get('origin')).toBe('http://page.example');
    const cb = url.searchParams.get('cb') as string;
    page.message(`cb=${cb}&code=stolen&status=connected`, 'http://evil.example');
    page.message('{"type":"WA_EMBEDDED_SIGNUP"}');
    expect(answers).toEqual([]);
    page.message(`cb=${cb}&code=AQabc&status=connected`);
    expect(answers).toEqual([
      { authResponse: { code: 'AQabc', userID: null, expiresIn: null }, status: 'connected' },
    ]);
    expect(page.listeners).toHaveLength(0);
  });

  it('calls back without a code when the window is closed', async () => {
    const page = await openPage();
    const answers: Any[] = [];
    page.window.FB.login((answer: Any) => answers.push(answer), OPTIONS);
    page.popup.closed = true;
    await eventually(() => answers.length === 1);
    expect(answers[0]).toEqual({ authResponse: null, status: 'unknown' });
  });
});

describe('the dialog', () => {
  const path = (change: Record<string, string> = {}) =>
    `/dialog?${new URLSearchParams({
      app_id: 'app-local',
      config_id: 'config-local',
      response_type: 'code',
      override_default_response_type: 'true',
      extras: JSON.stringify(OPTIONS.extras),
      origin: 'http://page.example',
      cb: 'f1',
      ...change,
    }).toString()}`;

  it('offers the accounts and all ways to end', async () => {
    const { status, headers, text } = await get(path());
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    for (const id of ['finish', 'cancel', 'error', 'close']) expect(text).toContain(`id="${id}"`);
    expect(text).toContain('value="900000000000001"');
    // Guides name accounts by their IDs.
    expect(text).toMatch(/>900000000000002: [^<]+ \(\+1 555-010-0002, /);
    expect(text).toContain('<option value="coexistence" selected>');
    expect(text).not.toContain('EMULATED-TOKEN');
  });

  it('shows the number that each account connects, one that is not connected first', async () => {
    const { text } = await get(path());
    const numbers = JSON.parse(
      (/data-numbers="([^"]*)"/.exec(text)?.[1] ?? '').replaceAll('&#34;', '"'),
    );
    // Of an account with several numbers, the first that is in use in the business app.
    expect(numbers['900000000000002'].coexistence).toBe('+1 555-010-0002 (ID 800000000000002)');
    expect(numbers[ONE.waba].finish).toBe(`+1 555-010-0001 (ID ${ONE.number})`);
    const subscribe = apiOf(world.emulator, ONE.token);
    await subscribe('POST', `/${ONE.waba}/subscribed_apps`);
    const selected = /<option value="(\d+)" selected>/;
    expect(selected.exec((await get(path())).text)?.[1]).not.toBe(ONE.waba);
    await subscribe('DELETE', `/${ONE.waba}/subscribed_apps`);
    expect(selected.exec((await get(path())).text)?.[1]).toBe(ONE.waba);
  });

  it.each([
    { app_id: 'other' },
    { config_id: 'other' },
    { response_type: 'token' },
    { override_default_response_type: 'false' },
    { origin: 'javascript:alert(1)' },
  ])('refuses to start for %j', async (change) => {
    const { status, text } = await get(path(change as Record<string, string>));
    expect(status).toBe(400);
    expect(text).toContain('role="alert"');
  });

  it('escapes its input as text', async () => {
    const { text } = await get(path({ cb: '"><script>alert(1)</script>' }));
    expect(text).not.toContain('<script>alert');
  });

  it('ends with an event and a code that can be exchanged', async () => {
    const finish = async (kind: string) => {
      const response = await request(`${world.emulator.url}/dialog/finish`, {
        method: 'POST',
        body: JSON.stringify({ waba_id: ONE.waba, kind }),
      });
      return (await response.body.json()) as Any;
    };
    const result = await finish('coexistence');
    expect(result).toMatchObject({
      event: 'FINISH_WHATSAPP_BUSINESS_APP_ONBOARDING',
      data: { waba_id: ONE.waba },
    });
    const query = `client_id=app-local&client_secret=app-secret-local&code=${result.code}`;
    const { body } = await apiOf(world.emulator, '')('GET', `/oauth/access_token?${query}`);
    expect(body.access_token).toBe(ONE.token);
    expect((await finish('finish')).data.phone_number_id).toBe(ONE.number);
  });

  it('reports its outcome to its opener', async () => {
    const posted: Any[] = [];
    const handlers: Record<string, (event: Any) => void> = {};
    const values: Record<string, string> = {
      step: 'PERMISSIONS',
      account: ONE.waba,
      kind: 'finish',
    };
    let closed = false;
    const context = createContext({
      window: {
        opener: { postMessage: (data: string, origin: string) => posted.push({ data, origin }) },
        close: () => (closed = true),
      },
      document: {
        getElementById: (id: string) => ({
          id,
          value: values[id] ?? 'x',
          dataset: { origin: 'http://page.example', cb: 'f1', session: 's1' },
          addEventListener: (_type: string, handler: (event: Any) => void) =>
            (handlers[id] = handler),
        }),
      },
      fetch: (url: string, init: Any) => fetch(world.emulator.url + url, init),
      URLSearchParams,
      JSON,
    });
    runInContext((await get('/dialog.js')).text, context);
    const click = (id: string) => handlers[id]?.({ preventDefault: () => undefined });
    click('cancel');
    expect(JSON.parse(posted[0].data)).toMatchObject({
      type: 'WA_EMBEDDED_SIGNUP',
      event: 'CANCEL',
      data: { current_step: 'PERMISSIONS' },
    });
    expect(posted[1]).toEqual({ data: 'cb=f1&status=unknown', origin: 'http://page.example' });
    expect(closed).toBe(true);
    click('error');
    expect(JSON.parse(posted[2].data).data).toMatchObject({ session_id: 's1', error_code: 'x' });
    click('finish');
    await eventually(() => posted.length === 6);
    expect(JSON.parse(posted[4].data)).toMatchObject({ event: 'FINISH' });
    expect(posted[5].data).toMatch(/^cb=f1&code=AQ.+&status=connected$/);
  });
});
