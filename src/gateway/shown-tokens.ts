import type { GatewayToken } from '../domain/identity/gateway-token.ts';
import type { StoreTime } from '../domain/ports/store.ts';
import type { TokenList } from '../domain/ports/token-store.ts';

/** The newest tokens, except login links that no longer work. Each login leaves a used link behind, and has its own entry in the list. */
export async function listShownTokens(store: TokenList & StoreTime, count: number): Promise<GatewayToken[]> {
  const now = await store.now();
  const isShown = ({ purpose, revokedAt, expiresAt }: GatewayToken): boolean =>
    purpose !== 'login-link' || (revokedAt === undefined && expiresAt > now);
  for (let limit = count; ; limit *= 2) {
    const tokens = await store.listTokens({ limit });
    const shown = tokens.filter(isShown);
    if (shown.length >= count || tokens.length < limit) return shown.slice(0, count);
  }
}
