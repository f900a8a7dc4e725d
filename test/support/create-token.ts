import type { TokenScope } from '../../src/domain/identity/gateway-token.ts';
import type { Identity } from '../../src/domain/identity/session.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { newTokenText } from '../../src/domain/identity/token-text.ts';

export interface TokenWish {
  readonly name?: string;
  readonly scopes: readonly TokenScope[];
  readonly identity?: Partial<Identity>;
  readonly decidesAs?: string;
  readonly unattended?: true;
  readonly lifetimeMs?: number;
}

export interface MadeToken {
  readonly id: string;
  /** The text that goes after `Bearer`. */
  readonly text: string;
}

const SOMEBODY: Identity = { tenant: 'default', subject: 'local', agent: 'assistant' };

/** Creates a token directly in the store, without a gateway. */
export async function createToken(store: Store, wish: TokenWish): Promise<MadeToken> {
  // The default names differ: a token that decides under its own name must not decide for an agent of the same name.
  const {
    name = wish.scopes.includes('agent') ? 'test agent' : 'test',
    scopes,
    identity,
    decidesAs,
    unattended,
    lifetimeMs = 60 * 60 * 1000,
  } = wish;
  const { id, text, secretDigest } = newTokenText();
  const answer = await store.createToken({
    token: {
      id,
      name,
      scopes,
      ...(scopes.includes('agent') ? { identity: { ...SOMEBODY, ...identity } } : {}),
      ...(decidesAs === undefined ? {} : { decidesAs }),
      ...(unattended === undefined ? {} : { unattended }),
    },
    secretDigest,
    lifetimeMs,
  });
  if (answer.kind !== 'created') throw new Error(`no token: ${answer.kind}`);
  return { id, text };
}
