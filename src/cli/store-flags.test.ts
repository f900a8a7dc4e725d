import { expect, it } from 'vitest';
import { storeFlagsOf } from './store-flags.ts';

it('keeps the flags that lead to a store as they were typed, and no others', () => {
  const options = {
    config: 'a b.yaml',
    store: 'redis',
    redis: 'redis://h:1',
    redisName: 'prod',
    json: true,
    yes: true,
  };
  expect(storeFlagsOf(options, {})).toEqual([
    '--config',
    "'a b.yaml'",
    '--store',
    'redis',
    '--redis',
    'redis://h:1',
    '--redis-name',
    'prod',
  ]);
  expect(storeFlagsOf({ folder: '../x' }, { SALLYPORT_FOLDER: 'y' })).toEqual(['--folder', '../x']);
  expect(storeFlagsOf({}, {})).toEqual([]);
});

it('names the folder and the file of the environment, which another terminal may not have', () => {
  const env = { SALLYPORT_CONFIG: 'c.yaml', SALLYPORT_FOLDER: 'y', SALLYPORT_REDIS_URL: 'redis://a:b@h:1' };
  expect(storeFlagsOf({}, env)).toEqual(['--config', 'c.yaml', '--folder', 'y']);
});

it('shows no password', () => {
  expect(storeFlagsOf({ redis: 'redis://ann:hush@h:1/0' }, {})).toEqual(['--redis', 'redis://ann:PASSWORD@h:1/0']);
});
