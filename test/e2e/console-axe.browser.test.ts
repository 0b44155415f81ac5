// Accessibility of every screen in the states that a person rarely looks at for long: while it
// loads, when there is nothing to show, and when the gateway cannot be reached.
import type { Route } from 'playwright-core';
import { consoleStage, inspectSchemes, SCREENS, settle, VIEWS, visit } from './console-stage';

const stage = consoleStage();

/** Everything but the session, without which there is no screen. */
const DATA = /\/dashboard\/api\/(?!session)/;

test('no screen has a fault while its data is on its way', async () => {
  const page = await stage.openSignedIn('');
  const held: Route[] = [];
  await page.route(DATA, (route) => void held.push(route));
  for (const [name, path] of Object.entries(SCREENS)) {
    await visit(page, path);
    await inspectSchemes(page, `loading ${name}`);
    for (const route of held.splice(0)) await route.continue().catch(() => undefined);
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('no screen has a fault for a partner that has nothing yet', async () => {
  const own = await stage.mesh.createPartner({ name: 'New Software' });
  const page = await stage.openSignedIn('', VIEWS[0], own.partner_key);
  for (const [name, path] of Object.entries(SCREENS)) {
    await visit(page, path);
    await settle(page);
    await inspectSchemes(page, `empty ${name}`);
  }
});

/** Each screen repeats its requests for seconds before it says so: several wait side by side. */
const SIDE_BY_SIDE = 4;

test('no screen has a fault while the gateway is unreachable, and each says so', async () => {
  const screens = Object.entries(SCREENS);
  const work = async (): Promise<void> => {
    const page = await stage.openSignedIn('');
    await page.route(DATA, (route) => route.abort());
    for (let next = screens.pop(); next; next = screens.pop()) {
      const [name, path] = next;
      await visit(page, path);
      await page.getByRole('alert').first().waitFor();
      await settle(page);
      await inspectSchemes(page, `failing ${name}`);
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
});
