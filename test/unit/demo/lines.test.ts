import { demoLines } from '../../../src/demo/lines.js';

const guide = {
  baseUrl: 'http://127.0.0.1:3000',
  credentials: {
    read: { username: 'demo-reader', password: 'secret-r' },
    write: { username: 'demo-writer', password: 'secret-w' },
    admin: { username: 'demo-admin', password: 'secret-a' },
  },
  offset: '2026-11-20T10:00:00.000Z',
  secondProduct: '6b013d7ab789274939adaa0c',
  docs: true,
  console: true,
};

const commands = () => demoLines(guide).filter((line) => line.includes('curl '));

describe('the lines a newcomer pastes', () => {
  it('are six steps of a harvest, three writes and a look of an administrator, in this order', () => {
    const paths = commands().map((line) => /demo\/shop\/[^'"?]*/.exec(line)?.[0]);
    expect(paths).toEqual([
      'demo/shop/api/v1/product/max',
      'demo/shop/api/v1/product/default/updates',
      'demo/shop/api/v1/product/default/updates',
      'demo/shop/api/v1/product/bikes/softdeletes',
      'demo/shop/api/v1/product/harddeletes',
      'demo/shop/api/v1/productbychannel/outlet/updates',
      'demo/shop/api/v0.1/member',
      'demo/shop/api/v0.1/member/$MEMBER',
      'demo/shop/api/v0.1/member/$MEMBER/address',
      'demo/shop/services',
    ]);
  });

  it('use the offset of max as to, and the cursor of the first page for the next one', () => {
    const [, first, next] = commands();
    expect(first).toContain('to=2026-11-20T10:00:00.000Z&limit=2');
    expect(next).toContain('to=2026-11-20T10:00:00.000Z&limit=2&lastoffsetid=6b013d7ab789274939adaa0c');
  });

  it('log in with the level that they need', () => {
    const logins = commands().map((line) => /-u (\S+)/.exec(line)?.[1]);
    expect(logins).toEqual([
      ...Array.from({ length: 6 }, () => 'demo-reader:secret-r'),
      ...Array.from({ length: 3 }, () => 'demo-writer:secret-w'),
      'demo-admin:secret-a',
    ]);
  });

  it('tell where the console is, if it is on', () => {
    expect(demoLines(guide).join('\n')).toContain('http://127.0.0.1:3000/console, as demo-admin');
    expect(demoLines({ ...guide, console: false }).join('\n')).not.toContain('/console');
  });

  it('tell where the documentation is, if it is on', () => {
    expect(demoLines(guide).join('\n')).toContain('http://127.0.0.1:3000/docs');
    expect(demoLines({ ...guide, docs: false }).join('\n')).not.toContain('/docs');
  });
});
