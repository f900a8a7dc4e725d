import { entry } from './error-entry.ts';

/** Errors about tokens of the gateway. None of them reveals anything to an attacker who guesses tokens. */
export const TOKEN_PLANE_ERRORS = {
  TOKEN_INVALID: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problem: string }) => `The token cannot be made: ${d.problem}.`,
    fix: 'See docs/tokens.md.',
  }),
  TOKEN_UNKNOWN: entry({
    stage: 'operate',
    retry: 'never',
    say: (d: { token: string }) => `There is no token ${d.token}, or it has ended long ago.`,
    fix: 'List them with: sallyport tokens list',
  }),
  TOKENS_FULL: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { most: number }) => `There are ${d.most} tokens that work, and there may be no more.`,
    fix: 'Revoke some that nobody needs: sallyport tokens revoke ID',
  }),
} as const;
