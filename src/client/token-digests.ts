import { sha256 } from '../wire/digest.ts';

const MOST_KNOWN = 1024;

/** The token itself never leaves the process: what travels is its digest, made once per token. */
export function createTokenDigests(): (token: string) => string {
  const known = new Map<string, string>();
  return (token) => {
    let digest = known.get(token);
    if (digest === undefined) {
      if (known.size >= MOST_KNOWN) known.clear();
      digest = sha256(token);
      known.set(token, digest);
    }
    return digest;
  };
}
