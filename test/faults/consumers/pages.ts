import type { HarvestedPage, PatientClient } from './patient-client.js';

export interface HarvestWindow {
  from: string | undefined;
  to: string;
}

/** The pages of a feed until the cursor is empty. What changes in the window meanwhile counts for the next page. */
export async function* pagesOf(
  client: PatientClient,
  feed: string,
  window: HarvestWindow,
  limit: () => number,
): AsyncGenerator<HarvestedPage> {
  for (let lastoffsetid = ''; ;) {
    const page = await client.page(feed, { ...window, lastoffsetid, limit: limit() });
    yield page;
    if (page.nextoffsetid === '') return;
    lastoffsetid = page.nextoffsetid;
  }
}
