import type { Kind } from '../../../src/kinds/index.js';
import type { Stored, TestApplication, TestService } from '../../support/index.js';

const T = Date.parse('2025-03-04T05:06:07.008Z');

/** Records that match, that do not, and that are gone, with stamps of their own and with the same one; one `id` is empty. */
export async function fill(service: TestService, app: TestApplication, kind: Kind): Promise<void> {
  const put = (id: string, category: string, seconds: number): Promise<Stored> =>
    app.put(kind, {
      ...{ id, data: { category }, lastupdated: new Date(T + seconds * 1000) },
      channels: category === 'bikes' ? ['web'] : [],
    });
  for (const [place, id] of ['b4', 'b1', 'b3', 'b2'].entries()) await put(id, 'bikes', 9 - place);
  for (const [place, id] of ['t1', 't3', 't2', 't4'].entries()) await put(id, 'tents', 2 * place);
  for (const id of ['b5', 'b6', 't5']) await put(id, id.startsWith('b') ? 'bikes' : 'tents', 20);
  await put('', 'bikes', 21);
  const gone = [
    await put('gone2', 'bikes', 3),
    await put('gone1', 'tents', 4),
    await put('gone3', 'bikes', 5),
  ];
  await service.watcher.caughtUp();
  for (const record of gone) await app.remove(kind, record);
}
