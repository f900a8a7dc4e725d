import { describe, expect, it } from 'vitest';
import { classifyThrown, errorOfThrown } from './classify-thrown.ts';
import { planeError } from '../errors/errors.ts';

const touched: string[] = [];
const bomb = (name: string) => (): never => {
  touched.push(name);
  throw new Error('bomb');
};
const withOwn = (own: object, cause?: unknown): Error =>
  Object.assign(new Error('secret', cause === undefined ? undefined : { cause }), own);
const withGetters = (): Error =>
  Object.defineProperties(new Error('secret'), {
    status: { get: bomb('status') },
    statusCode: { get: bomb('statusCode') },
    code: { get: bomb('code') },
    name: { get: bomb('name') },
    cause: { get: bomb('cause') },
  });
const chain = (depth: number, last: unknown): unknown =>
  depth === 0 ? last : new Error('secret', { cause: chain(depth - 1, last) });
const ownCause = (): Error => {
  const error = new Error('round');
  error.cause = error;
  return error;
};
class Timeout extends Error {
  get status(): number {
    return 504;
  }
}

describe('classifyThrown', () => {
  it.each([
    ['status 429', withOwn({ status: 429 }), { category: 'rate_limited', status: 429 }],
    ['statusCode 503', withOwn({ statusCode: 503 }), { category: 'upstream_5xx', status: 503 }],
    ['status before statusCode', withOwn({ statusCode: 503, status: 404 }), { category: 'not_found', status: 404 }],
    [
      'a status that is none before one that is',
      withOwn({ status: 0, statusCode: 404 }),
      { category: 'not_found', status: 404 },
    ],
    ['401', { status: 401 }, { category: 'permission', status: 401 }],
    ['422', { status: 422 }, { category: 'invalid_args', status: 422 }],
    ['408', { status: 408 }, { category: 'timeout', status: 408 }],
    ['409', { status: 409 }, { category: 'conflict', status: 409 }],
    ['418', { status: 418 }, { category: 'upstream_4xx', status: 418 }],
    ['599', { status: 599 }, { category: 'upstream_5xx', status: 599 }],
    ['304, which is no error', { status: 304 }, { status: 304 }],
    ['the status of a cause', withOwn({}, withOwn({}, { status: 429 })), { category: 'rate_limited', status: 429 }],
    [
      'its own before that of its cause',
      withOwn({ status: 404 }, { status: 500 }),
      { category: 'not_found', status: 404 },
    ],
    ['a network code', withOwn({ code: 'ECONNREFUSED' }), { category: 'network' }],
    [
      'a network code of a cause',
      new TypeError('fetch failed', { cause: withOwn({ code: 'ENOTFOUND' }) }),
      { category: 'network' },
    ],
    ['a time that is up', withOwn({ code: 'UND_ERR_HEADERS_TIMEOUT' }), { category: 'timeout' }],
    ['a file that is not there', withOwn({ code: 'ENOENT' }), { category: 'not_found' }],
    ['a file that is closed', withOwn({ code: 'EACCES' }), { category: 'permission' }],
    ['an abort', withOwn({ name: 'AbortError' }), { category: 'cancelled' }],
    ['what AbortSignal.timeout throws', new DOMException('secret', 'TimeoutError'), { category: 'timeout' }],
    ['what AbortSignal.abort throws', AbortSignal.abort().reason, { category: 'cancelled' }],
    ['a cause 7 levels down', chain(7, { status: 500 }), { category: 'upstream_5xx', status: 500 }],
  ])('sees %s', (_what, thrown, fault) => {
    expect(classifyThrown(thrown)).toStrictEqual(fault);
  });

  it.each([
    ['null', null],
    ['undefined', undefined],
    ['a text', 'ECONNREFUSED'],
    ['a number', 429],
    ['a plain error', new Error('429 Too Many Requests')],
    ['a code nobody knows', withOwn({ code: 'sk-live-4711' })],
    ['a status of text', { status: '429' }],
    ['a status of half a number', { status: 429.5 }],
    ['99', { status: 99 }],
    ['600', { status: 600 }],
    ['not a number', { status: Number.NaN }],
    ['what is inherited', Object.create({ status: 429, code: 'ENOENT' })],
    ['a getter of its class', new Timeout('secret')],
    ['a cause 8 levels down', chain(8, { status: 500 })],
    ['an error that is its own cause', ownCause()],
    ['a cause that is a text', withOwn({}, 'ETIMEDOUT')],
  ])('sees nothing in %s', (_what, thrown) => {
    expect(classifyThrown(thrown)).toBeUndefined();
  });

  it('invokes no getter', () => {
    touched.length = 0;
    expect(classifyThrown(withGetters())).toBeUndefined();
    expect(classifyThrown({ status: 429, cause: withGetters() })).toStrictEqual({
      category: 'rate_limited',
      status: 429,
    });
    expect(touched).toStrictEqual([]);
  });

  it.each([
    [
      'throws whatever is asked of it',
      new Proxy({}, { getOwnPropertyDescriptor: bomb('d'), get: bomb('g'), getPrototypeOf: bomb('p') }),
    ],
    ['was revoked', revoked()],
    [
      'lies about its properties',
      new Proxy({}, { getOwnPropertyDescriptor: () => ({ value: 'secret', configurable: true }) }),
    ],
  ])('sees nothing in a proxy that %s', (_what, thrown) => {
    expect(classifyThrown(thrown)).toBeUndefined();
    expect(classifyThrown(new Error('x', { cause: thrown }))).toBeUndefined();
  });

  it('ends on a proxy that has a cause for ever', () => {
    const endless: object = new Proxy(
      {},
      {
        getOwnPropertyDescriptor: (_, name) => (name === 'cause' ? { value: endless, configurable: true } : undefined),
      },
    );
    expect(classifyThrown(endless)).toBeUndefined();
  });
});

describe('errorOfThrown', () => {
  it('never passes on a code that is not ours', () => {
    expect(errorOfThrown(withOwn({ code: 'ECONNRESET' }))).toStrictEqual({ category: 'network', retryable: true });
    expect(errorOfThrown(withOwn({ code: 'sk-live-4711' }))).toStrictEqual({ category: 'internal', retryable: false });
  });

  it('distinguishes an error of the store from a defect', () => {
    expect(errorOfThrown(planeError('STORE_UNAVAILABLE', { problem: 'secret' }))).toStrictEqual({
      category: 'store',
      retryable: true,
      code: 'STORE_UNAVAILABLE',
    });
    expect(errorOfThrown(planeError('INTERNAL', { problem: 'secret' }))).toMatchObject({ category: 'internal' });
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
