import { entry } from './error-entry.ts';

/** Errors with which the gateway itself answers HTTP requests. Sent as problem+json, never thrown at callers. */
export const GATEWAY_ERRORS = {
  HTTP_HOST_REFUSED: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: () => 'This gateway does not answer to the name in the Host header.',
    fix: 'Use the address the gateway printed, or add the name to gateway.http.hosts.',
  }),
  HTTP_ORIGIN_REFUSED: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: () => 'Requests from pages of this origin are refused.',
    fix: 'Use the console of the gateway itself, or add the origin to gateway.http.origins.',
  }),
  HTTP_REQUEST_INVALID: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problem: string }) => `The request was not understood: ${d.problem}.`,
  }),
  HTTP_PATH_UNKNOWN: entry({
    stage: 'operate',
    retry: 'never',
    say: () => 'There is nothing at this path.',
    fix: 'See /openapi.json for all paths. They have no trailing slash.',
  }),
  METRICS_OFF: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: () => 'Metrics are switched off in this process.',
    fix: 'Set telemetry.metrics.enabled: true in its configuration and start it again.',
  }),
  HTTP_METHOD_REFUSED: entry({
    stage: 'operate',
    retry: 'never',
    say: (d: { allowed: string[] }) => `This path takes only: ${d.allowed.join(', ')}.`,
  }),
  HTTP_BODY_TYPE: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problem: string }) => `The body cannot be read: ${d.problem}.`,
    fix: 'Send JSON in UTF-8, not compressed, with Content-Type: application/json',
  }),
  HTTP_BODY_INVALID: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problem: string }) => `The body is not the JSON that is expected: ${d.problem}.`,
  }),
  HTTP_BODY_TOO_LARGE: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problem: string }) => `The body is too large: ${d.problem}.`,
  }),
  HTTP_HEADERS_TOO_LARGE: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { limit: number }) => `The headers are larger than ${d.limit} bytes.`,
  }),
  HTTP_TOO_SLOW: entry({
    stage: 'operate',
    retry: 'same-call',
    say: () => 'The request did not arrive in time.',
  }),
  PARAMETER_INVALID: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problems: string[] }) => `The request cannot be used: ${d.problems.join('; ')}.`,
    fix: 'See /openapi.json.',
  }),
  // The answer is the same whatever is wrong with a token, so that an attacker who guesses tokens learns nothing.
  TOKEN_REFUSED: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: () => 'A token is needed, and there is none, or it is wrong, expired or revoked.',
    fix: 'Send Authorization: Bearer TOKEN. Make one with: sallyport tokens create',
  }),
  SCOPE_MISSING: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { needed: string[] }) => `This needs a token with the scope ${d.needed.join(' or ')}.`,
    fix: 'Use another token. Make one with: sallyport tokens create NAME --scope SCOPE',
  }),
  CONSOLE_REQUEST_REFUSED: entry({
    stage: 'operate',
    retry: 'never',
    say: (d: { problem: string }) => `A request of the console was refused: ${d.problem}.`,
    fix: 'Programs use Authorization: Bearer TOKEN instead of a cookie.',
  }),
  LOGIN_REFUSED: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: () => 'This login link or token cannot be used: it is wrong, expired, or was used before.',
    fix: 'Make another link with: sallyport gateway login-link',
  }),
  RATE_LIMITED: entry({
    stage: 'operate',
    retry: 'after-a-while',
    say: (d: { retryAfterMs: number }) => `Too many requests. Try again in ${d.retryAfterMs} ms.`,
    fix: 'The limits are gateway.http.rate in the configuration.',
  }),
  SUBSCRIPTION_REFUSED: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problem: string }) => `The subscription is refused: ${d.problem}.`,
    fix: 'End subscriptions with resources/unsubscribe. A URI has at most 8,192 characters.',
  }),
  GATEWAY_BUSY: entry({
    stage: 'operate',
    retry: 'after-a-while',
    say: (d: { retryAfterMs: number }) =>
      `Too many requests without a valid token are under way. Try again in ${d.retryAfterMs} ms.`,
    fix: 'Requests with a valid token are not affected. Pages and logins share half of gateway.http.connections, one address a quarter.',
  }),
  GATEWAY_DRAINING: entry({
    stage: 'operate',
    retry: 'after-a-while',
    say: () => 'The gateway is stopping.',
  }),
  AGENT_UNKNOWN: entry({
    stage: 'operate',
    retry: 'never',
    say: (d: { agent: string }) => `There is no agent "${d.agent}".`,
    fix: 'List the agents with: sallyport agents list',
  }),
  MODULE_UNKNOWN: entry({
    stage: 'operate',
    retry: 'never',
    say: (d: { module: string; near: string[] }) =>
      `No module "${d.module}" is published.${d.near.length > 0 ? ` Did you mean ${d.near.join(', ')}?` : ''}`,
    fix: 'List what is published with: sallyport catalog',
  }),
  UPSTREAM_UNKNOWN: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { upstream: string; known: string[] }) =>
      `There is no MCP server "${d.upstream}"${d.known.length === 0 ? '' : `; known: ${d.known.join(', ')}`}.`,
    fix: 'List them with: sallyport upstreams',
  }),
  UPSTREAM_UNSEEN: entry({
    stage: 'operate',
    retry: 'after-a-while',
    say: (d: { upstream: string }) =>
      `No worker has connected to the MCP server ${d.upstream} yet, so nothing can be accepted.`,
    fix: 'Start a worker that has it in its configuration, or see what is wrong with: sallyport upstreams test NAME',
  }),
  UPSTREAM_OFFER_CHANGED: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { upstream: string }) =>
      `Nothing was accepted: the MCP server ${d.upstream} offers something else by now than what was shown.`,
    fix: 'Read what it offers again: sallyport upstreams show NAME',
  }),
  UPSTREAM_DEFINITION_UNKNOWN: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { definitions: string[] }) =>
      `Nothing was accepted: the server does not offer ${d.definitions.join(', ')}, or offers more than one definition with such a name.`,
    fix: 'Read what the server offers again, and name definitions as they are listed there: kind and name.',
  }),
  MODULE_SERVED: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { module: string; how: string; workers: string[] }) =>
      `Nothing was withdrawn: ${d.module} ${d.how} ${d.workers.join(', ')}.`,
    fix: 'Stop these workers, or take the module away from them. To close its tools at once: sallyport pause tool MODULE.*',
  }),
  APPROVAL_NOT_YOURS: entry({
    stage: 'operate',
    retry: 'never',
    say: () =>
      'The requester may not decide. A token that calls for the same subject, or that opened the session, counts as the requester.',
    fix: 'Another person has to decide it. requesterMayDecide in the policy changes that.',
  }),
  APPROVAL_NOT_REVEALED: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: () => 'Part of the question is masked, and you have not revealed it. Nothing was decided.',
    fix: 'Reveal it first: sallyport approvals reveal, the button Reveal of the console, or POST /v1/approvals/{id}/reveal. Deny needs no reveal.',
  }),
} as const;

/** Errors about tokens of the gateway. None of them reveals anything to an attacker who guesses tokens. */
export const TOKEN_ERRORS = {
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
