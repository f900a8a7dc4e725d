import { describe, expect, it } from 'vitest';
import { isPlainPath } from './guard.ts';

describe('isPlainPath', () => {
  it.each([
    '/',
    '/v1/calls',
    '/v1/calls/0.abc-_.x~2',
    '/console/',
    '/v1/agents/a%20b',
    '/v1/agents/%C3%A9ric%40home',
    '/v1/agents/%F0%9F%90%98',
  ])('takes %s', (path) => {
    expect(isPlainPath(path)).toBe(true);
  });

  it.each([
    '',
    'v1',
    '//calls',
    '/v1//calls',
    '/v1/./calls',
    '/v1/../calls',
    '/v1/calls/..',
    '/v1/calls/..%2fadmin',
    '/v1/%2e%2e/admin',
    '/v1/%252e%252e/admin',
    '/v1/calls%00',
    '/v1/calls%0a',
    '/v1\\calls',
    '/v1/%5ccalls',
    '/v1/a b',
    '/v1/%zz',
    '/v1/%',
    '/v1/ü',
    '/v1/calls//',
    '/v1/%6de',
    '/%76%31/me',
    '/healt%68z',
    '/v1/calls/%30.abc',
    '/v1/calls/0.abc%7E2',
    '/v1/calls/0.abc%2Dx',
    '/v1/agents/%5F',
    '/v1/agents/%ff',
    '/v1/agents/%C3',
    '/v1/agents/%ED%A0%80',
  ])('refuses %j', (path) => {
    expect(isPlainPath(path)).toBe(false);
  });
});
