import { entry } from './error-entry.ts';

/** Errors that end calls which use secrets. None of them contains the value of a secret. */
export const SECRET_ERRORS = {
  SECRET_REFERENCE_INVALID: entry({
    stage: 'identify',
    kind: 'invalid',
    retry: 'never',
    say: (d: { tool: string; problem: string }) =>
      `A reference to a secret in the arguments of ${d.tool} was not understood: ${d.problem}. It reads secret:NAME or \${secret:NAME}; for the letters themselves write secret::NAME or $\${secret:NAME}.`,
    fix: 'See docs/secrets.md.',
  }),
  SECRET_UNDECLARED: entry({
    stage: 'identify',
    kind: 'denied',
    retry: 'never',
    say: (d: { tool: string; secret: string }) =>
      `${d.tool} does not take the secret ${d.secret}. For the letters themselves write secret::${d.secret} or $\${secret:${d.secret}}.`,
    fix: "Add the name to the tool's own `secrets`, if it should have it.",
  }),
  SECRET_DENIED: entry({
    stage: 'identify',
    kind: 'denied',
    retry: 'never',
    say: (d: { tool: string; secret: string; agent: string }) =>
      `Agent ${d.agent} may not use the secret ${d.secret} with ${d.tool}.`,
    fix: 'Add the name to the agent under `secrets` in the policy.',
  }),
  SECRET_UNKNOWN: entry({
    stage: 'identify',
    kind: 'invalid',
    retry: 'after-the-fix',
    say: (d: { tool: string; secret: string }) => `There is no secret ${d.secret} here for ${d.tool}.`,
    fix: 'Configure where it comes from, in secrets.providers of the worker.',
  }),
  SECRET_UNAVAILABLE: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'after-a-while',
    say: (d: { tool: string; secret: string; problem: string }) =>
      `The secret ${d.secret} could not be read, so ${d.tool} did not run: ${d.problem}.`,
    fix: 'See the log of the worker, and docs/secrets.md.',
  }),
} as const;
