import type { SessionProof, SessionReader } from '../../domain/ports/session-store.ts';
import type { StoreLanes } from '../../domain/ports/store.ts';
import type { TokenProof } from '../../domain/ports/token-store.ts';
import type { GatewayToken } from '../../domain/identity/gateway-token.ts';
import { parseScopedId } from '../../domain/identity/ids.ts';
import { sha256 } from '../../base/sha256.ts';
import type { Authenticated } from '../authenticated.ts';
import { administers } from '../actor-of.ts';
import { readBearer } from '../bearer.ts';

/** The store operations that prove bearers. */
export interface ProofStore extends StoreLanes, TokenProof, SessionProof, SessionReader {}

export interface Authenticator {
  /**
   * Asks the store whose bearer this is. Undefined if it is not valid. An answer is reused for at most `PROOF_MS`. With `forChange`, the
   * store is asked each time about a bearer that administers, so that a revoked token cannot create another token or allow a call. Agents
   * need no such check: they call in a session, which the store checks.
   */
  prove(bearer: string, options?: { readonly forChange?: boolean }): Promise<Authenticated | undefined>;
  /**
   * Whether this bearer was valid not long ago, or the store is being asked about it now. This is not a proof. It is only a reason to ask
   * the store in spite of many failures from the same address.
   */
  isKnown(bearer: string): boolean;
  /** Whether a bearer that was valid before is still valid. Returns false for any other bearer without asking the store. Never throws. */
  isStillGood(bearer: string): Promise<boolean>;
  /** Makes the next proof of this bearer ask the store. */
  forget(bearer: string): void;
}

/** How long an answer of the store about a bearer is reused. A token that was revoked meanwhile can still read for this time. */
export const PROOF_MS = 2000;
const MAX_PROOFS = 10_000;

interface Proof {
  readonly auth: Authenticated;
  until: number;
}

/** Keeps the proofs that succeeded. Their keys are digests of the bearers, so that no secret of a token stays in memory. */
export function createAuthenticator(
  store: ProofStore,
  onLost: (auth: Authenticated) => void,
  now: () => number = () => performance.now(),
): Authenticator {
  const proofs = new Map<string, Proof>();
  const asked = new Map<string, Promise<Authenticated | undefined>>();

  function keep(digest: string, auth: Authenticated | undefined): void {
    const before = proofs.get(digest);
    proofs.delete(digest);
    if (auth !== undefined) {
      const leftMs = Math.min(PROOF_MS, auth.expiresAt - Date.now());
      proofs.set(digest, { auth, until: now() + leftMs });
    } else if (before !== undefined) onLost(before.auth);
    if (proofs.size > MAX_PROOFS) proofs.delete(proofs.keys().next().value!);
  }

  async function prove(
    bearer: string,
    { forChange = false }: { readonly forChange?: boolean } = {},
  ): Promise<Authenticated | undefined> {
    const digest = sha256(bearer);
    const known = proofs.get(digest);
    const mustAsk = forChange && known !== undefined && administers(known.auth);
    if (!mustAsk && known !== undefined && now() < known.until) return known.auth;
    const underWay = mustAsk ? undefined : asked.get(digest);
    if (underWay !== undefined) return underWay;
    const asking = askStore(store, bearer);
    asked.set(digest, asking);
    try {
      const auth = await asking;
      keep(digest, auth);
      return auth;
    } finally {
      if (asked.get(digest) === asking) asked.delete(digest);
    }
  }

  return {
    prove,
    isKnown(bearer) {
      const digest = sha256(bearer);
      return proofs.has(digest) || asked.has(digest);
    },
    async isStillGood(bearer) {
      if (!proofs.has(sha256(bearer))) return false;
      return prove(bearer).then(
        (auth) => auth !== undefined,
        () => false,
      );
    },
    forget(bearer) {
      const known = proofs.get(sha256(bearer));
      if (known !== undefined) known.until = 0;
    },
  };
}

async function askStore(store: ProofStore, text: string): Promise<Authenticated | undefined> {
  const bearer = readBearer(text);
  if (bearer === undefined) return undefined;
  if (bearer.kind === 'token') {
    const token = await store.proveToken({ id: bearer.id, secretDigest: bearer.secretDigest });
    return token && authenticatedBy(token);
  }
  const { id, token } = bearer;
  if ((parseScopedId(id)?.lane ?? store.lanes) >= store.lanes) return undefined;
  const ending = await store.proveSession({ session: id, tokenDigest: sha256(token) });
  const session = ending === undefined ? await store.readSession(id) : undefined;
  if (session === undefined) return undefined;
  const { identity, expiresAt } = session;
  return {
    via: 'session',
    id,
    name: `session of ${identity.agent}`,
    scopes: new Set(['agent']),
    identity,
    expiresAt,
    session: { id, token },
  };
}

export function authenticatedBy(token: GatewayToken): Authenticated {
  const { id, name, scopes, identity, decidesAs, unattended, expiresAt } = token;
  return {
    via: 'token',
    id,
    name,
    scopes: new Set(scopes),
    ...(identity === undefined ? {} : { identity }),
    ...(decidesAs === undefined ? {} : { decidesAs }),
    ...(unattended === undefined ? {} : { unattended }),
    expiresAt,
  };
}
