import { describe, expect, it } from 'vitest';
import { expandPlaceholders } from './expand-file.ts';

const env = { HOST: 'example', EMPTY: '', NESTED: '${HOST}' };

describe('expandPlaceholders', () => {
  it.each([
    ['${HOST}', 'example', true],
    ['http://${HOST}:${PORT:-80}/', 'http://example:80/', false],
    ['${NONE:-}', '', true],
    ['${EMPTY:-x}', 'x', true],
    ['${EMPTY}', '', true],
    ['plain $HOST', 'plain $HOST', false],
  ])('reads %j as %j', (text, expected, whole) => {
    expect(expandPlaceholders(text, env)).toStrictEqual({ text: expected, whole });
  });

  it.each([
    ['${NONE}', 'the environment has no NONE'],
    ['${NESTED}', 'NESTED holds a placeholder itself'],
    ['${HOST', 'a placeholder reads ${NAME} or ${NAME:-default}'],
    ['${1}', 'a placeholder reads ${NAME} or ${NAME:-default}'],
    ['${HOST:-${X}}', 'a placeholder reads ${NAME} or ${NAME:-default}'],
  ])('refuses %j', (text, problem) => {
    expect(expandPlaceholders(text, env)).toStrictEqual({ problem });
  });
});
