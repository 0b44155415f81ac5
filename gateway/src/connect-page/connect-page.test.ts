import { ApiError } from '@bmg/common/errors';
import {
  CONNECT_TOKEN_PREFIX,
  createKey,
  createPeppers,
  PARTNER_KEY_PREFIX,
} from '@bmg/common/keys';
import type { OpenConnectPageResponse } from '@bmg/proto/onboarding';
import { useApp } from '../../test/app';
import { createLookUps } from '../auth/look-ups';
import { ROOM } from '../../test/room';
import { connectPage } from '.';
import { LANGUAGES } from './texts';

const peppers = createPeppers('pepper');
const TOKEN = createKey(CONNECT_TOKEN_PREFIX);
const KEY = createKey(PARTNER_KEY_PREFIX);
const SDK_URL = 'https://sdk.test/en/sdk.js';

const PAGE: OpenConnectPageResponse = {
  outcome: 'open',
  app_id: 'app',
  config_id: 'config',
  extras: { setup: {}, version: 'v4' },
  api_version: 'v26.0',
  state: `"'</main><script>alert(1)</script>&`,
  partner_name: '<b>Partner</b>',
};

const { start } = useApp();
let base: string;
const openConnectPage = jest.fn();
const reportConnectStep = jest.fn();
const createConnectSession = jest.fn();
const log = { warn: jest.fn() };

beforeAll(async () => {
  const extend = connectPage({
    onboarding: { openConnectPage, reportConnectStep, createConnectSession } as never,
    authenticator: {
      identify: async (key: string) => {
        if (key === KEY) return { key_hash: '', caller: { partner_id: 'ptn_1' } };
        throw new ApiError('INVALID_PARTNER_KEY', 'no');
      },
      confirm: async (known: { caller: object }) => known.caller,
    } as never,
    look_ups: createLookUps(ROOM),
    visits: { take: async () => undefined },
    peppers,
    sdk_url: SDK_URL,
    log: log as never,
  });
  base = `http://127.0.0.1:${await start({ endpoints: [], extend })}`;
});
beforeEach(() => {
  for (const mock of [openConnectPage, reportConnectStep, createConnectSession, log.warn]) {
    mock.mockReset();
  }
  openConnectPage.mockResolvedValue(PAGE);
  createConnectSession.mockResolvedValue({ token: TOKEN });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(base + path, { headers, redirect: 'manual' });

describe('the page', () => {
  test('sends onboarding the hash of the token, and holds nothing inline', async () => {
    const answer = await get(`/connect?token=${TOKEN}`);
    expect(answer.status).toBe(200);
    expect(openConnectPage.mock.calls[0]?.[0]).toEqual({ token_hash: peppers.hash(TOKEN) });
    const html = await answer.text();
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|<b>|\son\w+=/);
    const [, data] = /data-config="([^"]*)"/.exec(html) as never as [string, string];
    const decoded = data.replace(/&#(\d+);/g, (_all, code: string) =>
      String.fromCharCode(Number(code)),
    );
    expect(JSON.parse(decoded)).toMatchObject({ token: TOKEN, state: PAGE.state, app_id: 'app' });
  });

  test('may load only the sign-up script from another origin', async () => {
    const { headers } = await get(`/connect?token=${TOKEN}`);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self' https://sdk.test;");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*;| \* /);
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test.each([
    ['expired', 410, 'not valid any more'],
    ['unknown', 410, 'not valid any more'],
    ['consumed', 410, 'has been used'],
  ])('is a notice for a link that is %s', async (outcome, status, text) => {
    openConnectPage.mockResolvedValue({ ...PAGE, outcome });
    const answer = await get(`/connect?token=${TOKEN}`);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain(text);
  });

  test.each(['', '?token=', '?token=bmgc_short', `?token=${TOKEN}&token=${TOKEN}`])(
    'is a notice for an incomplete token (%s), without a call of onboarding',
    async (query) => {
      expect((await get(`/connect${query}`)).status).toBe(400);
      expect(openConnectPage).not.toHaveBeenCalled();
    },
  );

  test.each([
    ['PLATFORM_NOT_CONFIGURED', 503],
    ['PARTNER_SUSPENDED', 403],
    ['SERVICE_UNAVAILABLE', 503],
  ] as const)('is a notice for the error %s', async (code, status) => {
    openConnectPage.mockRejectedValue(new ApiError(code, 'words for partners'));
    const answer = await get(`/connect?token=${TOKEN}`);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('text/html');
    const html = await answer.text();
    expect(html).toContain(code);
    expect(html).not.toContain('words for partners');
  });
});

describe('the language', () => {
  const page = async (language: string): Promise<string> =>
    (await get(`/connect?token=${TOKEN}`, { 'accept-language': language })).text();

  test.each([
    ['pt-BR,pt;q=0.9,en;q=0.8', 'pt', 'ltr'],
    ['fr-FR,es-MX;q=0.7', 'es', 'ltr'],
    ['ar-EG', 'ar', 'rtl'],
    ['fr', 'en', 'ltr'],
    ['*', 'en', 'ltr'],
    ['"><script>', 'en', 'ltr'],
  ])('of a browser that accepts %s is %s', async (accepted, language, direction) => {
    const html = await page(accepted);
    expect(html).toContain(`<html lang="${language}" dir="${direction}">`);
    expect(html).toContain(LANGUAGES[language]?.connect);
    // A name in Latin letters must not change the order of the words of an Arabic sentence.
    expect(html.includes('\u2068&#60;b&#62;Partner')).toBe(direction === 'rtl');
    const [, data] = /data-config="([^"]*)"/.exec(html) as never as [string, string];
    expect(data).toContain(LANGUAGES[language]?.other_failure.slice(0, 10));
  });

  test('of a notice is that of the browser, while the opener’s log stays in English', async () => {
    openConnectPage.mockResolvedValue({ ...PAGE, outcome: 'expired' });
    const html = await page('id');
    expect(html).toContain(LANGUAGES['id']?.notices.expired.title);
    expect(html).toContain('This link is not valid any more');
  });

  test('has every text, with the same places for names', () => {
    const flat = (value: unknown, path = ''): Array<[string, string]> =>
      typeof value === 'string'
        ? [[path, value]]
        : Object.entries(value as object).flatMap(([key, inner]) => flat(inner, `${path}.${key}`));
    const english = new Map(flat(LANGUAGES['en']));
    for (const [language, texts] of Object.entries(LANGUAGES)) {
      const own = flat(texts);
      expect(own.map(([path]) => path).sort()).toEqual([...english.keys()].sort());
      for (const [path, text] of own) {
        const names = (one = ''): string[] => one.match(/\{\w+\}/g) ?? [];
        expect([language, path, names(text)]).toEqual([language, path, names(english.get(path))]);
        expect([language, path, text.trim()]).toEqual([language, path, text]);
        expect(text).not.toBe('');
        if (language !== 'en') expect([path, text]).not.toEqual([path, english.get(path)]);
      }
    }
  });
});

describe('the deprecated form of the link', () => {
  test('redirects to a session, and keeps the key out of the address and the log', async () => {
    const answer = await get(`/connect?partner_key=${KEY}&state=s&display_name=d`);
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe(`?token=${TOKEN}&legacy=1`);
    expect(createConnectSession.mock.calls[0]?.[0]).toEqual({
      partner_id: 'ptn_1',
      state: 's',
      display_name: 'd',
    });
    expect(log.warn).toHaveBeenCalledTimes(1);
    expect(JSON.stringify(log.warn.mock.calls)).not.toContain(KEY);
    expect(await (await get(`/connect?token=${TOKEN}&legacy=1`)).text()).toContain('deprecated');
  });

  test('answers a bad key with a notice for browsers, and with JSON on request', async () => {
    const page = await get('/connect?partner_key=bmgk_bad', { accept: 'text/html,*/*;q=0.8' });
    expect(page.status).toBe(401);
    expect(await page.text()).toContain('INVALID_KEY');
    const json = await get('/connect?partner_key=bmgk_bad', { accept: 'application/json' });
    expect([json.status, await json.json()]).toMatchObject([
      401,
      { error: { code: 'INVALID_KEY' } },
    ]);
  });
});

describe('the files of the page', () => {
  test('are served under addresses that change with their content', async () => {
    const html = await (await get(`/connect?token=${TOKEN}`)).text();
    const files = [...html.matchAll(/(?:src|href)="(connect\/[^"]+)"/g)].map(([, path]) => path);
    expect(files).toHaveLength(2);
    for (const path of files) {
      const answer = await get(`/${path}`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toContain('immutable');
    }
  });
});

describe('a report from the page', () => {
  const post = (headers: Record<string, string>, body: object) =>
    fetch(`${base}/connect/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  test('is sent to onboarding with the hash of its token, whatever the body says', async () => {
    const answer = await post(
      { 'x-connect-token': TOKEN },
      { kind: 'dialog_opened', token_hash: 'another' },
    );
    expect(answer.status).toBe(200);
    expect(reportConnectStep.mock.calls[0]?.[0]).toMatchObject({
      kind: 'dialog_opened',
      token_hash: peppers.hash(TOKEN),
    });
  });

  test('needs a token and a kind', async () => {
    expect((await post({}, { kind: 'dialog_opened' })).status).toBe(401);
    expect((await post({ 'x-connect-token': TOKEN }, {})).status).toBe(400);
    expect(reportConnectStep).not.toHaveBeenCalled();
  });
});
