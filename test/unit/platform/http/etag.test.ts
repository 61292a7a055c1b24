import { allows, etagOf } from '../../../../src/platform/http/answer.js';

const etag = etagOf(Buffer.from('stored'));

describe('ETag', () => {
  it('is strong, the same for the same bytes and another for others', () => {
    expect(etag).toMatch(/^"[A-Za-z0-9_-]{27}"$/);
    expect(etagOf(Buffer.from('stored'))).toBe(etag);
    expect(etagOf(Buffer.from('stores'))).not.toBe(etag);
  });
});

describe('If-Match', () => {
  it.each([undefined, '*', ' * ', etag, `"other", ${etag}`, `${etag},"a,b"`, `W/"weak",${etag}`])(
    'allows %j',
    (ifMatch) => {
      expect(allows(ifMatch, etag)).toBe(true);
    },
  );

  it.each([
    '',
    '"other"',
    `W/${etag}`,
    `"x", W/${etag}`,
    etag.slice(1, -1),
    etag.slice(0, -1),
    '"*"',
    '*, "x"',
  ])('refuses %j', (ifMatch) => {
    expect(allows(ifMatch, etag)).toBe(false);
  });
});
