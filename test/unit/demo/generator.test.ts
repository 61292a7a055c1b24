import { demoMembers, demoProducts } from '../../../src/demo/generator.js';

describe('the records of the demo', () => {
  it('are the same at every call, and a longer list begins with the shorter one', () => {
    expect(demoProducts(3000)).toEqual(demoProducts(3000));
    expect(demoProducts(3003).slice(0, 3000)).toEqual(demoProducts(3000));
    expect(demoMembers(1000)).toEqual(demoMembers(1000));
  });

  it('have ids and e-mails of their own, and nobody is meant', () => {
    const members = demoMembers(1000);
    const emails = members.map(({ data }) => String(data['email']));
    expect(new Set(emails).size).toBe(1000);
    expect(emails.every((email) => email.endsWith('@example.org'))).toBe(true);
    expect(new Set(members.map(({ id }) => id)).size).toBe(1000);
    expect(new Set(demoProducts(3000).map(({ id }) => id)).size).toBe(3000);
  });

  it('are in several categories and channels, some in several of them and some in none', () => {
    const products = demoProducts(3000);
    const counts = new Set(products.map(({ channels }) => channels?.length));
    expect([...counts].sort()).toEqual([0, 1, 2, 3]);
    expect(new Set(products.map(({ data }) => String(data['category'])))).toContain('bikes');
  });
});
