import { expect, it } from 'vitest';
import { describeLibrary } from './load-libraries.ts';

it('a library of a newer release is not reported as that of this one', () => {
  expect(describeLibrary({ library: 'sallyport_1', state: 'there' })).toBe(
    'The functions sallyport_1 are those of this release.',
  );
  expect(describeLibrary({ library: 'sallyport_1', state: 'newer' })).toContain('those of a newer release');
});
