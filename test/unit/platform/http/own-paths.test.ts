import { isAboutTheService, isConsoleFile, isOfPages } from '../../../../src/platform/http/own-paths.js';

describe('what is about the service itself', () => {
  it.each([
    '/health/live',
    '/health/ready',
    '/metrics',
    '/console',
    '/console/assets/index-1a2b.js',
    '/console/applications/acme/webshop/product/erp',
    '/console/applications/api/webshop/product/erp',
    '/docs',
    '/docs/page.js',
    '/openapi.json',
  ])('%s', (path) => {
    expect(isAboutTheService(path)).toBe(true);
  });

  it.each(['console', 'docs', 'metrics', 'openapi.json', 'consoles'])(
    'is nothing of an organization of the name %s',
    (org) => {
      for (const path of ['v1/product/max', 'v1/product/default/updates', 'v0.1/member', 'v0.1/member/4711'])
        expect(isAboutTheService(`/${org}/webshop/api/${path}`)).toBe(false);
    },
  );
});

it('only the page under /docs and its files are pages', () => {
  expect(['/docs', '/docs/page.css'].map(isOfPages)).toEqual([true, true]);
  for (const path of ['/docs/webshop/api/v1/product/max', '/docs-of-ours/webshop/api/v1/product/max'])
    expect(isOfPages(path)).toBe(false);
});

it('the feeds of an application console/assets are no files of the console', () => {
  expect(isConsoleFile('/console/assets/index-1a2b.js')).toBe(true);
  expect(isConsoleFile('/console/assets/api/v1/product/max')).toBe(false);
});
