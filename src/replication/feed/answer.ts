import type { Response } from 'express';
import type { Page } from './page.js';

/** Sends a page. */
export async function answerPage(response: Response, page: Promise<Page>): Promise<void> {
  const { body, headers } = await page;
  response.set(headers).type('application/json').send(body);
}

/** Sends the answer of `max`; Express turns it into 304 where If-None-Match fits. */
export async function answerMax(response: Response, max: Promise<Date>): Promise<void> {
  const offset = (await max).toISOString();
  response.set('ETag', `"${offset}"`).type('application/json').send(JSON.stringify({ offset }));
}
