import { mongo } from 'mongoose';
import { type Page } from 'playwright-core';
import { type TestApplication, TestService } from '../support/index.js';
import { ConsoleBrowser } from './browser.js';

let service: TestService;
let browser: ConsoleBrowser;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  service = await TestService.shared();
  browser = await ConsoleBrowser.start(service.url);
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  await service.watcher.caughtUp();
});
afterAll(async () => {
  await browser?.stop();
});
afterEach(async () => {
  expect(browser.faults.splice(0)).toEqual([]);
  await browser.closeWindows();
});

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

/** Clicks what asks, and then what does. */
async function confirm(page: Page, asking: string | RegExp, doing: string): Promise<string> {
  await button(page, asking).click();
  const dialog = page.getByRole('dialog');
  const text = await dialog.innerText();
  await dialog.getByRole('button', { name: doing, exact: true }).click();
  return text;
}

describe('Signing in', () => {
  it('a wrong password is told, by the page and not by the browser', async () => {
    const page = await browser.open();
    await browser.signIn(page, root, 'wrong');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toContain('No active credential has this user name');
    expect(page.url()).toBe(`${service.url}/console`);
    await browser.signIn(page, app.user('read'));
    await page.getByText('This request requires a credential of level "admin".').waitFor();
  });

  it('an expired session is told, and the page is still there after signing in again', async () => {
    const page = await browser.openAs(root);
    await browser.goTo(page, '/credentials');
    await page.getByRole('cell', { name: root }).waitFor();
    await service.db.collection('tidemark.sessions').updateMany({}, { $set: { expires: new Date(0) } });
    await page.getByRole('link', { name: 'Audit trail' }).click();
    await page.getByText('Your session is over. Sign in again.').waitFor();
    await page.getByLabel('User name').fill(root);
    await page.getByLabel('Password').fill('correct horse battery staple');
    await button(page, 'Sign in').click();
    await page.getByRole('heading', { name: 'Audit trail' }).waitFor();
    await page.getByRole('cell', { name: 'session.open' }).first().waitFor();
  });

  it('signing out ends it', async () => {
    const page = await browser.openAs(root);
    await button(page, 'Sign out').click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await browser.goTo(page, '/credentials');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});

it('a session that cannot be read for a while is not taken for none', async () => {
  const page = await browser.openAs(root);
  const detail = 'The database is away.';
  await page.route('**/admin/v1/session', (route) => route.fulfill({ status: 503, json: { detail } }));
  await page.reload();
  await page.getByRole('alert').getByText(detail).waitFor();
  expect(await page.getByLabel('Password').count()).toBe(0);
  await page.unroute('**/admin/v1/session');
  await button(page, 'Try again').click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

it('a sign-out that fails says so: the session may go on', async () => {
  const page = await browser.openAs(root);
  const session = '**/admin/v1/session';
  await page.route(session, (route) => route.fulfill({ status: 503, body: '{}' }));
  await button(page, 'Sign out').click();
  await page.getByRole('alert').getByText('You may still be signed in').waitFor();
  expect(await page.getByRole('heading', { name: 'Overview' }).isVisible()).toBe(true);
  await page.unroute(session);
  await button(page, 'Sign out').click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

describe('Credentials', () => {
  it('one whose scopes are of another type is listed, and opens nothing', async () => {
    const page = await browser.openAs(root);
    for (const scopes of ['*', [null], [{ ...app.tenant }, 'more']]) {
      const username = await app.credential({ scopes });
      await browser.goTo(page, '/credentials');
      await page.reload();
      const opens = page
        .getByRole('row', { name: new RegExp(`^${username} `) })
        .getByRole('cell')
        .nth(2);
      await opens.waitFor();
      const expected = scopes.length === 2 ? `${app.organizationid}/${app.appid}` : '';
      expect((await opens.innerText()).trim()).toBe(expected);
    }
  });

  it('one whose end is not a date is listed as broken', async () => {
    const username = await app.credential({ expiresAt: '2999-01-01 at noon' });
    const page = await browser.openAs(root);
    await browser.goTo(page, '/credentials');
    const row = page.getByRole('row', { name: new RegExp(`^${username} `) });
    await row.getByText('not a date').waitFor();
    await row.getByText('broken').waitFor();
  });

  it('the password of a credential is rotated, the old one works on, and is retired', async () => {
    const username = await app.credential();
    const page = await browser.openAs(root);
    const stored = () => service.db.collection('credentials').findOne({ username });
    const first = (await stored())!['passwordhash'] as string;
    await browser.goTo(page, '/credentials');
    const row = page.getByRole('row', { name: new RegExp(`^${username} `) });
    await row.getByRole('button', { name: 'Rotate' }).click();
    await page.getByLabel('The password it has now').selectOption('7');
    await button(page, 'Give another').click();
    await page.locator('[data-secret]').waitFor();
    expect(await stored()).toMatchObject({ oldpasswordhash: first });
    await button(page, 'I have it').click();
    await row.getByText('its old password in 7 days').waitFor();
    await row.getByRole('button', { name: 'Retire old' }).click();
    await button(page, 'Retire it').click();
    await row.getByText('its old password').waitFor({ state: 'detached' });
    expect(await stored()).not.toHaveProperty('oldpasswordhash');
  });

  it('what nobody used for a while is revoked together, once that is confirmed', async () => {
    const page = await browser.openAs(root);
    const since = new Date(Date.now() - 100 * 86_400_000);
    await service.db
      .collection<{ _id: string }>('tidemark.credentialuses')
      .updateOne({ _id: '' }, { $set: { at: since } }, { upsert: true });
    await app.credential({ username: 'long-unused', _id: new mongo.ObjectId('4'.repeat(24)) });
    await browser.goTo(page, '/credentials');
    await button(page, 'Show').click();
    const said = await confirm(page, 'Revoke 1 credential…', 'Revoke 1 credential');
    expect(said).toContain('long-unused, last used never');
    await page.getByText('No credential is known to be unused').waitFor();
    expect(await service.db.collection('credentials').findOne({ username: 'long-unused' })).toBeNull();
  });

  it('of several unused ones, those that somebody else has revoked meanwhile keep no other from being revoked', async () => {
    const page = await browser.openAs(root);
    const since = new Date(Date.now() - 100 * 86_400_000);
    await service.db
      .collection<{ _id: string }>('tidemark.credentialuses')
      .updateOne({ _id: '' }, { $set: { at: since } }, { upsert: true });
    for (const username of ['unused-1', 'unused-2', 'unused-3'])
      await app.credential({ username, _id: new mongo.ObjectId('4'.repeat(23) + username.at(-1)!) });
    await browser.goTo(page, '/credentials');
    await button(page, 'Show').click();
    await button(page, 'Revoke 3 credentials…').click();
    await service.db.collection('credentials').deleteOne({ username: 'unused-1' });
    await page.route('**/credentials/unused-3', (route) => route.fulfill({ status: 503, body: '{}' }));
    await button(page, 'Revoke 3 credentials').last().click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('row', { name: /^unused-2 / }).waitFor({ state: 'detached' });
    await page.unroute('**/credentials/unused-3');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Revoke/ })
      .click();
    await page.getByText('No credential is known to be unused').waitFor();
    expect(await service.db.collection('credentials').countDocuments({ username: /^unused-/ })).toBe(0);
  });

  it('the keyboard returns to the button whose question was answered with No', async () => {
    const page = await browser.openAs(root);
    await browser.view(page, '/credentials', 'Issue a credential');
    const asking = page.getByRole('button', { name: 'Revoke' }).first();
    await asking.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await asking.evaluate((element) => element.ownerDocument.activeElement === element)).toBe(true);
  });

  it('a change whose answer was not awaited is shown once its question is closed', async () => {
    const username = await app.credential();
    const page = await browser.openAs(root);
    await browser.goTo(page, '/credentials');
    const row = page.getByRole('row', { name: new RegExp(`^${username} `) });
    await page.route(`**/credentials/${username}`, async (route) => {
      await route.fetch();
    });
    await row.getByRole('button', { name: 'Disable' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.getByRole('button', { name: 'Leave it' }).click();
    await row.getByText('disabled').waitFor();
  });

  describe('what a new one opens', () => {
    const issued = (username: string) => service.db.collection('credentials').findOne({ username });

    it('is chosen by name, and a name that is not valid is refused with the reason', async () => {
      const page = await browser.openAs(root);
      await browser.goTo(page, '/credentials');
      const [organization, application] = [page.getByLabel('Organization'), page.getByLabel('Application')];
      expect(await organization.inputValue()).toBe('');
      expect(await application.inputValue()).toBe('');
      await page.getByLabel('User name').fill('by-name');
      await organization.fill('*');
      await application.fill(app.appid);
      await button(page, 'Issue').click();
      const alert = page.getByRole('alert');
      await alert.getByText('Organization must be the name of one, such as "acme"').waitFor();
      await organization.fill('acme!');
      await button(page, 'Issue').click();
      await alert.getByText('must start with a letter or digit').waitFor();
      expect(await alert.innerText()).toContain('/scopes/0/organizationid');
      expect(await issued('by-name')).toBeNull();
      await organization.fill(app.organizationid);
      await button(page, 'Issue').click();
      await button(page, 'I have it').click();
      expect(await issued('by-name')).toMatchObject({ scopes: [app.tenant] });
    });

    it('is everything only by a choice of its own, which says what that means', async () => {
      const page = await browser.openAs(root);
      await browser.goTo(page, '/credentials');
      await page.getByLabel('User name').fill('by-choice');
      await page.getByLabel('Opens').selectOption('every application of every organization');
      await page
        .getByText(
          'It opens every application of every organization, including those that are registered later.',
        )
        .waitFor();
      expect(await page.getByLabel('Organization').count()).toBe(0);
      await button(page, 'Issue').click();
      await button(page, 'I have it').click();
      expect(await issued('by-choice')).toMatchObject({ scopes: [{ organizationid: '*', appid: '*' }] });
      expect(await page.getByLabel('Opens').inputValue()).toBe('application');
    });

    it('is for an administrator of one organization no more than that one', async () => {
      const { organizationid } = app;
      const admin = await app.credential({ level: 'admin', scopes: [{ organizationid, appid: '*' }] });
      const page = await browser.openAs(admin);
      await browser.goTo(page, '/credentials');
      await page.getByLabel('Opens').waitFor();
      expect(await page.getByLabel('Opens').locator('option').allInnerTexts()).toEqual([
        'one application',
        'every application of one organization',
      ]);
      await page.getByLabel('User name').fill('of-organization');
      await page.getByLabel('Opens').selectOption('every application of one organization');
      await page
        .getByText(
          'It opens every application of the organization, including those that are registered later.',
        )
        .waitFor();
      await page.getByLabel('Organization').fill(organizationid);
      await button(page, 'Issue').click();
      await button(page, 'I have it').click();
      expect(await issued('of-organization')).toMatchObject({ scopes: [{ organizationid, appid: '*' }] });
    });

    it('is for an administrator of one application that one, without a choice', async () => {
      const admin = await app.credential({ level: 'admin' });
      const page = await browser.openAs(admin);
      await browser.goTo(page, '/credentials');
      await page.getByLabel('Organization').waitFor();
      expect(await page.getByLabel('Opens').count()).toBe(0);
    });
  });
});

it('an application whose organization has no valid name is refused with the reason', async () => {
  const page = await browser.openAs(root);
  await browser.goTo(page, '/applications');
  await page.getByLabel('Organization').fill('acme & sons');
  await page.getByLabel('Application').fill('shop');
  await button(page, 'Register').click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  expect(await alert.innerText()).toMatch(
    /\/organizationid must start with a letter or digit and have at most 64 /,
  );
});
