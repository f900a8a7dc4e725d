import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { SingleUse } from '../../domain/ports/token-store.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/sha256.ts';
import { randomId } from '../../domain/identity/new-id.ts';
import { parseStrictJson } from '../../base/strict-json.ts';
import type { McpBearer } from './mcp-plane.ts';

const CIPHER = 'aes-256-gcm';
const VERSION = 'sp1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Max length of a sealed state, in characters. A tool's own state may be 256 KiB, before it is encrypted and encoded. */
const MAX_LENGTH = 512 * 1024;
/** Authenticated together with every state. If the same key is also used to seal other data, that data cannot be opened as a state. */
const PURPOSE = Buffer.from('sallyport mcp request state 1');

/** The bearer and the request that a state was made for. A state is accepted only from the same bearer with the same request. */
export interface StateOwner {
  readonly bearer: McpBearer;
  readonly method: string;
  /** The params of the request, compared as canonical JSON: a state is not accepted with other params. */
  readonly params: JsonObject;
}

/**
 * The state that a client carries between two requests of one call. The client can neither read nor change the state. It is accepted only
 * once, from the same bearer with the same request.
 */
export interface Seals {
  seal(owner: StateOwner, state: JsonObject, lifetimeMs: number): string;
  /** Undefined if the state is not valid, whatever the reason. */
  open(owner: StateOwner, sealed: string): Promise<JsonObject | undefined>;
}

export function createSeals(key: () => Uint8Array, store: SingleUse): Seals {
  return {
    seal(owner, state, lifetimeMs) {
      const body = { ...bindingOf(owner), expiresAt: Date.now() + lifetimeMs, state };
      return encrypt(key(), canonicalJson(body));
    },
    async open(owner, sealed) {
      const body = readBody(key(), sealed);
      if (body === undefined) return undefined;
      const { expiresAt, state, ...bound } = body;
      const leftMs = Number(expiresAt) - Date.now();
      if (canonicalJson(bound) !== canonicalJson(bindingOf(owner)) || !(leftMs > 0) || !isJsonObject(state))
        return undefined;
      const lifetimeMs = Math.ceil(leftMs) + 60_000;
      const use = await store.useOnce({ digest: sha256(sealed), attempt: randomId(), lifetimeMs });
      return use === 'first' ? state : undefined;
    },
  };
}

function bindingOf({ bearer, method, params }: StateOwner): JsonObject {
  const { tenant = '', subject = '', agent = '' } = bearer.identity ?? {};
  return { bearer: bearer.id, tenant, subject, agent, method, params: sha256(canonicalJson(params)) };
}

function encrypt(key: Uint8Array, text: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(PURPOSE);
  const hidden = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString('base64url')}`;
}

function readBody(key: Uint8Array, sealed: string): JsonObject | undefined {
  const [version, text, ...rest] = sealed.length > MAX_LENGTH ? [] : sealed.split('.');
  if (version !== VERSION || text === undefined || rest.length > 0) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  // Accept only the canonical base64url text. Uses are counted by text, so another spelling of the same bytes would be a second use.
  if (bytes.toString('base64url') !== text || bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
  try {
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(PURPOSE);
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const plain = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    const parsed = parseStrictJson(plain);
    return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
  } catch {
    return undefined;
  }
}
