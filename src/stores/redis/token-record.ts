import type { GatewayToken, NewToken } from '../../domain/identity/gateway-token.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import type { AdministrativeRecord } from '../administrative-record.ts';
import { asNumber, asText } from './answers.ts';

/** Takes the fields as the functions return them: facts, createdAt, expiresAt, and revokedAt or an empty text. */
export function toToken(id: string, [facts, createdAt, expiresAt, revokedAt]: readonly unknown[]): GatewayToken {
  const revoked = asText(revokedAt);
  return {
    id,
    ...(JSON.parse(asText(facts)) as Omit<NewToken, 'id'>),
    createdAt: asNumber(createdAt),
    expiresAt: asNumber(expiresAt),
    ...(revoked === '' ? {} : { revokedAt: Number(revoked) }),
  };
}

/** `about` has the lines of `about_session`. Session and run are empty, because a token is about no session. */
export function recordArguments({ event, detail, identity }: AdministrativeRecord) {
  return { event, detail, about: identity === undefined ? '' : `\n\n${canonicalJson(identity as never)}` };
}
