import { describe, expect, it } from 'vitest';
import { orderServices, type Dependent } from './order-services.ts';

const known = (services: Readonly<Record<string, Partial<Dependent>>>): Map<string, Dependent> =>
  new Map(Object.entries(services).map(([name, some]) => [name, { needs: [], uses: [], ...some }]));

describe('orderServices', () => {
  it('puts each after what it depends on, otherwise by name', () => {
    const services = known({ a: { needs: ['c'] }, b: {}, c: { uses: ['d'] }, d: {} });
    expect(orderServices(services, ['b', 'a'])).toEqual(['d', 'c', 'a', 'b']);
  });

  it('starts only what is wanted, and what that needs', () => {
    expect(orderServices(known({ a: {}, b: { needs: ['c'] }, c: {} }), ['b'])).toEqual(['c', 'b']);
  });

  it('leaves out what is used but not configured', () => {
    expect(orderServices(known({ a: { uses: ['models'] } }), ['a'])).toEqual(['a']);
  });

  it('refuses what is needed but not configured', () => {
    expect(() => orderServices(known({ a: { needs: ['ghost'] } }), ['a'])).toThrow(
      'a needs the service ghost, which is not configured',
    );
  });

  it.each([
    ['of one', { a: { needs: ['a'] } }, 'a needs a: a circle'],
    [
      'of three, also over what is only used',
      { a: { needs: ['b'] }, b: { uses: ['c'] }, c: { needs: ['a'] } },
      'a needs b needs c needs a: a circle',
    ],
    [
      'behind the first',
      { a: { needs: ['b'] }, b: { needs: ['c'] }, c: { needs: ['b'] } },
      'b needs c needs b: a circle',
    ],
  ])('refuses a circle %s', (_, services, problem) => {
    const refused = (): unknown => orderServices(known(services), ['a']);
    expect(refused).toThrow(expect.objectContaining({ code: 'SERVICES_INVALID' }));
    expect(refused).toThrow(problem);
  });
});
