import type { ExecutionContext } from '@nestjs/common';
import { Needs } from '../../../../src/auth/index.js';
import { problems } from '../../../../src/platform/http/index.js';
import type { Tenant } from '../../../../src/record/index.js';
import { FirstPassGuard } from '../../../../src/replication/store/index.js';

class ByHandler {
  @Needs('write')
  write() {}

  @Needs('admin')
  administer() {}

  @Needs('read')
  read() {}

  plain() {}
}

@Needs('write')
class ByClass {
  plain() {}

  @Needs('read')
  read() {}
}

/** Whether a route is let in, by its controller and the name of its handler. */
async function isLetIn(controller: new () => object, name: string, hasEnded: boolean): Promise<boolean> {
  const handlers = controller.prototype as Record<string, () => void>;
  const context = {
    ...{ getHandler: () => handlers[name], getClass: () => controller },
    switchToHttp: () => ({ getRequest: () => ({ params: { org: 'acme', app: 'shop' } }) }),
  };
  const read = ({ organizationid, appid }: Tenant) =>
    Promise.reject(problems.preparing({ application: `${organizationid}/${appid}` }));
  const guard = new FirstPassGuard({ hasEnded: () => Promise.resolve(hasEnded) } as never, { read } as never);
  try {
    return await guard.canActivate(context as unknown as ExecutionContext);
  } catch (error) {
    expect(error).toMatchObject({ slug: 'preparing', detail: expect.stringContaining('"acme/shop"') });
    return false;
  }
}

describe('503 `preparing` for writes until the first pass has ended', () => {
  it.each<[string, new () => object, string]>([
    ['a handler that needs `write`', ByHandler, 'write'],
    ['a handler that needs `admin`, which includes `write`', ByHandler, 'administer'],
    ['a handler of a class that needs `write`', ByClass, 'plain'],
  ])('%s', async (_name, controller, name) => {
    expect(await isLetIn(controller, name, false)).toBe(false);
    expect(await isLetIn(controller, name, true)).toBe(true);
  });

  it.each<[string, new () => object, string]>([
    ['a handler that needs nothing', ByHandler, 'plain'],
    ['a handler that needs `read`', ByHandler, 'read'],
    ['a handler that needs `read`, whatever its class needs', ByClass, 'read'],
  ])('not for %s', async (_name, controller, name) => {
    expect(await isLetIn(controller, name, false)).toBe(true);
  });
});
