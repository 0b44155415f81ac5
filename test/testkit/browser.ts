// A real browser for tests and measurements: the system's Chromium.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

/** Debian's names (the first has no windows to draw), and those of other distributions. */
const SHELL = 'chromium-headless-shell';
const PATHS = [
  `/usr/bin/${SHELL}`,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const installed = (): string | undefined => PATHS.find((path) => existsSync(path));
export const INSTALL_LIMIT_MS = 300_000;
const INSTALL_LOCK = '/tmp/bmg-install-browser.lock';
const APT = 'apt-get -o DPkg::Lock::Timeout=240 -qq';
const ANY = PATHS.map((path) => `test -x ${path}`).join(' || ');
const INSTALL = `${ANY} || { ${APT} update && { ${APT} install -y ${SHELL} || ${APT} install -y chromium; }; }`;
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts the browser, and installs it first if it is missing. */
export async function launchBrowser(): Promise<Browser> {
  // Workers take turns: apt-get does not run twice at once, and a browser must be complete before
  // its use.
  if (installed() === undefined || existsSync(INSTALL_LOCK)) {
    execFileSync('flock', [INSTALL_LOCK, 'sh', '-c', INSTALL], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      timeout: INSTALL_LIMIT_MS,
    });
  }
  return chromium.launch({
    executablePath: installed() as string,
    headless: true,
    args: ARGUMENTS,
  });
}
