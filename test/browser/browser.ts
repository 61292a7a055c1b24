import { readFileSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { chromiumPath } from '../../scripts/chromium.mjs';
import { PASSWORD } from '../support/index.js';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const QUIET = [
  'disable-gpu',
  'disable-quic',
  'no-first-run',
  'disable-background-networking',
  'disable-sync',
];
const ARGUMENTS = [...QUIET, 'disable-component-update', 'no-sandbox'].map((name) => `--${name}`);
const PATIENCE_MS = 60_000;

/** A rule of axe that a page breaks, and the first place of it. */
interface Violation {
  id: string;
  place: string | undefined;
}

/** A headless browser and the console in it. What goes wrong in a page, or leads out of the service, is noted. */
export class ConsoleBrowser {
  /** Errors of scripts and of the content security policy, and requests to anywhere else. */
  readonly faults: string[] = [];

  private constructor(
    private readonly browser: Browser,
    private readonly url: string,
  ) {}

  static async start(url: string): Promise<ConsoleBrowser> {
    const browser = await chromium.launch({ executablePath: chromiumPath(), args: ARGUMENTS });
    return new ConsoleBrowser(browser, url);
  }

  async stop(): Promise<void> {
    await this.browser.close();
  }

  /** Closes all windows: each asks the service again and again as long as it is open. */
  async closeWindows(): Promise<void> {
    await Promise.all(this.browser.contexts().map((context) => context.close()));
  }

  /** A window of its own, with no session. */
  async open(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await this.browser.newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    await this.unplug(context);
    const page = await context.newPage();
    page.on('pageerror', ({ message }) => this.faults.push(message));
    page.on('console', (message) => {
      if (/content security policy/i.test(message.text())) this.faults.push(message.text());
    });
    return page;
  }

  /** Goes to a page of the console. */
  async goTo(page: Page, path: string): Promise<void> {
    await page.goto(`${this.url}/console${path === '/' ? '' : path}`);
  }

  /** The same, and answers what the page shows once a text is there. */
  async view(page: Page, path: string, shown: string): Promise<string> {
    await this.goTo(page, path);
    await page.getByText(shown).first().waitFor();
    await page.waitForLoadState('networkidle');
    return page.locator('main').innerText();
  }

  async signIn(page: Page, username: string, password = PASSWORD): Promise<void> {
    await this.goTo(page, '/');
    await this.signInHere(page, username, password);
  }

  /** Signs in on the page that is shown. */
  async signInHere(page: Page, username: string, password = PASSWORD): Promise<void> {
    await page.getByLabel('User name').fill(username);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  /** A window in which somebody is signed in. */
  async openAs(username: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const page = await this.open(options);
    await this.signIn(page, username);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    return page;
  }

  /** Nothing but the service can be reached. */
  private async unplug(context: BrowserContext): Promise<void> {
    await context.route(
      (url) => !url.href.startsWith(`${this.url}/`),
      (route) => {
        this.faults.push(`asked for ${route.request().url()}`);
        return route.abort();
      },
    );
  }
}

/** What axe finds wrong with the page as it is shown. */
export async function violationsIn(page: Page): Promise<Violation[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => ({ id, place: nodes[0]?.html }));
  });
}
