import type { Locator, Page } from 'playwright-core';
import { eventually } from '../support/index.js';
import { violationsIn } from './browser.js';

/** The page of a service in the console, and what it shows. */
export class ServicePage {
  constructor(readonly page: Page) {}

  /** The list of the fields that it leaves out. */
  get left(): Locator {
    return this.page.getByLabel('Fields that it leaves out');
  }

  get hashed(): Locator {
    return this.page.getByLabel('Fields that it shows as a hash');
  }

  get save(): Locator {
    return this.button('Save…');
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** A record as the preview shows it, `Before` or `After`. */
  side(title: string, id: string): Locator {
    return this.page.getByRole('region', { name: `${title}: ${id}`, exact: true });
  }

  async shows(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor();
  }

  /** Shows all fields, all `except` those of a list, or `only` those. */
  async choose(extent: string): Promise<void> {
    await this.page.getByLabel('It shows', { exact: true }).selectOption(extent);
  }

  /** Clicks what asks, and then what does, once it is known what that is. Returns what was said. */
  async confirm(asking: string, doing: string): Promise<string> {
    await this.button(asking).click();
    const dialog = this.page.getByRole('dialog');
    let text = '';
    await eventually(async () => !(text = await dialog.innerText()).includes('is not known yet'));
    expect(await violationsIn(this.page)).toEqual([]);
    await dialog.getByRole('button', { name: doing, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    return text;
  }
}
