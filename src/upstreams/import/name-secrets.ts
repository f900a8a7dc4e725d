import { SECRET_NAME } from '../../domain/secret/secret-reference.ts';

const MAX_LENGTH = 64;
/** Names that say nothing about whose secret it is. They get the id of their server in front. */
const GENERAL =
  /^(?:X_)?(?:API|ACCESS|AUTH|CLIENT|BEARER|PRIVATE|SECRET|REFRESH|SESSION|USER|DB|DATABASE|MY|THE|_)*(?:KEY|TOKEN|SECRET|PASSWORD|PASS|PASSWD|PWD|AUTH|AUTHORIZATION|COOKIE|CREDENTIALS?|URL|URI)$/;

export interface SecretRequest {
  /** The name of the variable or header. */
  readonly setting: string;
  /** Undefined if a person has to fill it in. */
  readonly value: string | undefined;
  /** The id of the server that gets it. */
  readonly server: string;
  /** Whether the file may be another person's work. Its server shares no secret with another, and gets none that exists. */
  readonly isForeign: boolean;
}

/** The secret that a folder holds under a name: its value, `unreadable`, or undefined if there is none. */
export type ExistingSecret = (name: string) => { readonly value: string } | 'unreadable' | undefined;

/** Chooses names for secrets. Equal values of one user share a name; different values never do. */
export class SecretNames {
  readonly #existing: ExistingSecret;
  readonly #taken = new Map<string, SecretRequest>();

  constructor(existing: ExistingSecret) {
    this.#existing = existing;
  }

  choose(request: SecretRequest): string {
    for (const candidate of candidates(request)) {
      if (!this.#isFree(candidate, request)) continue;
      this.#taken.set(candidate, request);
      return candidate;
    }
    throw new Error('unreachable: the candidates do not end');
  }

  #isFree(name: string, { value, isForeign, server }: SecretRequest): boolean {
    const taken = this.#taken.get(name);
    if (taken !== undefined) {
      const mayShare = isForeign || taken.isForeign ? taken.server === server : true;
      return taken.value === value && mayShare;
    }
    const existing = this.#existing(name);
    if (existing === undefined) return true;
    if (existing === 'unreadable') return false;
    // The same value grants nothing new. A server without a value would be given what the folder holds.
    return value === undefined ? !isForeign : existing.value === value;
  }
}

/**
 * A foreign server gets names of its own, which begin with PROJECT. The attack: a server named `github` in the file of a project, whose
 * variable TOKEN would make a reference to the secret GITHUB_TOKEN that a provider of this user already gives.
 */
function* candidates({ setting, server, isForeign }: SecretRequest): Generator<string> {
  const own = nameFrom(setting);
  const withServer = nameFrom(isForeign ? `PROJECT_${server}_${setting}` : `${server}_${setting}`);
  if (!isForeign && !GENERAL.test(own)) yield own;
  yield withServer;
  for (let count = 2; ; count += 1) yield `${withServer.slice(0, MAX_LENGTH - 8)}_${count}`;
}

/** @internal */
export function nameFrom(text: string): string {
  const words = text.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  const name = words.replaceAll(/^[^A-Z]+|_+$/g, '').slice(0, MAX_LENGTH);
  return SECRET_NAME.test(name) ? name : 'SECRET';
}
