import { describe, expect, it } from 'vitest';
import { ERRORS, planeError, errorOutcome, type CallErrorCode, type PlaneErrorCode } from './errors.ts';

/**
 * The value of every fact in these tests: a whole sentence, because a fact can be the message of another error. Used as a list, it has one
 * member.
 */
const SENTENCE = 'It broke.';
const fact = Object.assign([SENTENCE], { replaceAll: SENTENCE.replaceAll.bind(SENTENCE) });
const SENTENCES = new Proxy({}, { get: () => fact }) as never;

describe('the messages of errors', () => {
  it.each(Object.keys(ERRORS))('%s has no double full stop when its facts are sentences', (code) => {
    const { kind, fix } = ERRORS[code as keyof typeof ERRORS];
    const message =
      kind === undefined
        ? planeError(code as PlaneErrorCode, SENTENCES).message
        : errorOutcome(code as CallErrorCode, SENTENCES).error!.message;
    expect(`${message}\n${fix ?? ''}`).not.toMatch(/\.\.(?!\.)(?<!\.\.\.)|\. \./);
  });

  it('name the pause or the hook in the fix, and leave the id of the call to the reader of the outcome', () => {
    const fixOf = (...[code, facts]: Parameters<typeof errorOutcome>): string | undefined =>
      errorOutcome(code, facts as never).error!.fix;
    expect(fixOf('PAUSED', { tool: 'a.b', agent: 'x', paused: 'agent x' })).toContain(
      'sallyport pause agent x --resume',
    );
    expect(fixOf('HOOK_BLOCKED', { hook: 'guard.no-rm', reason: 'No.' })).toContain('The hook guard.no-rm decided so');
    expect(fixOf('MAY_HAVE_RUN', { tool: 'a.b' })).toContain('calls resolve <id>');
  });

  it('keep a path that ends with two full stops', () => {
    expect(planeError('HTTP_REQUEST_INVALID', { problem: 'the path is a/..' }).message).toContain('a/..');
  });
});
