// The hosted onboarding page in a real browser: trusted message origins, recipients and page
// security.
import { connectStage, type Prepare, type Visit, press } from './connect-browser';
import { ONE, TWO_A } from '../harness/shared-mesh';

const WABA = ONE.waba_id;

const stage = connectStage();

describe('the code and the account message of the platform', () => {
  /** Replaces the platform's script by one whose answers the test sets. */
  const answering =
    (login: string): Prepare =>
    async (context) => {
      await context.route('**/sdk.js', (route) =>
        route.fulfill({
          contentType: 'text/javascript',
          headers: { 'access-control-allow-origin': '*' },
          body: `const say = (origin, data) => window.dispatchEvent(new MessageEvent('message', {
            origin, data: typeof data === 'string' ? data : JSON.stringify(data) }));
          window.FB = { init() {}, login(answer) { window.open('about:blank'); ${login} } };
          window.fbAsyncInit();`,
        }),
      );
    };
  const FINISHED = (waba_id: string): string =>
    `{ type: 'WA_EMBEDDED_SIGNUP', event: 'FINISH', data: { waba_id: '${waba_id}' } }`;
  const withCode = async (script: (code: string) => string): Promise<Visit> => {
    const { code } = await stage.mesh.emulator.code({ token: 'EMULATED-TOKEN-1' });
    await stage.mesh.emulator.clearRequests();
    const visited = await stage.begin(answering(script(code)));
    await visited.page.getByText(/Ready\./).waitFor();
    await visited.page.click('#start');
    return visited;
  };

  const ANSWER = (code: string): string =>
    `answer({ status: 'connected', authResponse: { code: '${code}' } });`;

  test.each([
    [
      'are accepted with the code first',
      `setTimeout(() => say('https://business.facebook.com', ${FINISHED(WABA)}), 300);`,
    ],
    ['complete the sign-up with only the code', ''],
    [
      'are ignored from another origin or in another shape',
      `say('https://evilfacebook.com', ${FINISHED(TWO_A.waba_id)});
      say('http://www.facebook.com', ${FINISHED(TWO_A.waba_id)});
      say('https://facebook.com.evil.example', ${FINISHED(TWO_A.waba_id)});
      say('https://www.facebook.com', 'cb=f1&no=json');
      say('https://www.facebook.com', { type: 'OTHER', event: 'CANCEL', data: {} });
      say('https://www.facebook.com', null);`,
    ],
  ])('%s', async (_name, script) => {
    const { message } = await withCode((code) => script + ANSWER(code));
    const data = { type: 'SERVICE_CONNECT_SUCCESS', waba_id: WABA };
    expect((await message()).data).toMatchObject(data);
  });

  test('connect nothing when they name an account that the code does not cover', async () => {
    const { message } = await withCode(
      (code) => `say('https://www.facebook.com', ${FINISHED(TWO_A.waba_id)}); ${ANSWER(code)}`,
    );
    expect((await message()).data).toMatchObject({
      type: 'SERVICE_CONNECT_ERROR',
      code: 'DISCOVERY_FAILED',
      current_step: 'DISCOVERY',
    });
  });
});

describe('the outcome of a sign-up', () => {
  /** The popup gets no referrer from the partner's page. */
  const withoutReferrer: Prepare = (context) =>
    context.route(`${stage.site.origin}/`, async (route) => {
      const response = await route.fetch();
      const headers = { ...response.headers(), 'referrer-policy': 'no-referrer' };
      await route.fulfill({ response, headers });
    });
  const finish = async (origin: string | null, prepare?: Prepare): Promise<Visit> => {
    const { connect_url } = await stage.link('order-18', origin);
    const visited = await stage.begin(prepare, connect_url);
    const dialog = await visited.dialog();
    await dialog.selectOption('#account', WABA);
    await press(dialog, '#finish');
    await visited.page.getByText(/Done\./).waitFor();
    return visited;
  };

  test('goes whole to any opener if no origin is known', async () => {
    const { message } = await finish(null, withoutReferrer);
    expect((await message()).data).toEqual({
      type: 'SERVICE_CONNECT_SUCCESS',
      state: 'order-18',
      waba_id: WABA,
      phone_number_id: ONE.phone_number_id,
      display_name: expect.any(String),
      quality_rating: expect.any(String),
      connection_mode: expect.any(String),
    });
  });

  test('is not delivered to a page of another origin', async () => {
    const { messages } = await finish('https://shop.example.com');
    expect(await messages()).toEqual([]);
  });
});
