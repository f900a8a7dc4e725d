import type { TokenScope } from '../../../../src/domain/identity/gateway-token.ts';
import type { NewTokenBody } from '../../../../src/gateway/api/token-schema.ts';

export const SCOPES: readonly { readonly scope: TokenScope; readonly means: string }[] = [
  { scope: 'agent', means: 'calls tools as one agent for one subject' },
  { scope: 'operator', means: 'sees everything; cancels, resolves, pauses, explains' },
  { scope: 'approver', means: 'sees questions and decides them' },
  { scope: 'sessions', means: 'opens sessions, and so calls tools, for any subject and agent' },
  { scope: 'admin', means: 'also changes the policy and makes tokens' },
];

export interface TokenForm {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  readonly agent: string;
  readonly subject: string;
  readonly tenant: string;
  readonly decidesAs: string;
  readonly unattended: boolean;
  readonly days: string;
}

/** Whether a token with these scopes can be unattended. It can if it opens sessions and has not the scope `admin`. */
export function opensSessions(scopes: TokenForm['scopes']): boolean {
  return (scopes.includes('agent') || scopes.includes('sessions')) && !scopes.includes('admin');
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Builds the request for a new token. It contains an identity only with the scope `agent`, and omits fields that were left empty. */
export function readTokenForm(form: TokenForm): NewTokenBody {
  const { name, scopes, agent, subject, tenant, decidesAs, unattended, days } = form;
  const isAgent = scopes.includes('agent');
  const decides = scopes.includes('approver') ? decidesAs.trim() : '';
  return {
    name: name.trim(),
    scopes: [...scopes],
    ...(isAgent
      ? { identity: { tenant: tenant.trim() || 'default', subject: subject.trim(), agent: agent.trim() } }
      : {}),
    ...(decides === '' ? {} : { decidesAs: decides }),
    ...(unattended && opensSessions(scopes) ? { unattended: true } : {}),
    lifetimeMs: Math.round(Number(days) * DAY_MS),
  };
}
