import { planeError } from '../domain/errors/errors.ts';
import type { SecretSource } from '../domain/ports/secret-source.ts';
import { readSecret } from '../worker/services/read-secret.ts';

const REFERENCE = 'secret:';

/** Resolves references in the configuration of services: `secret:NAME` from the plane's own secrets, and all others with `readSecret`. */
export function serviceSecrets(secrets: SecretSource): typeof readSecret {
  return async (reference) => {
    if (!reference.startsWith(REFERENCE)) return readSecret(reference);
    const name = reference.slice(REFERENCE.length);
    const { signal } = new AbortController();
    const found = await secrets.read(name, signal);
    if (found.kind === 'read') return found.value;
    throw planeError('SERVICES_INVALID', { problems: [`the secret ${name} cannot be read: ${found.problem}`] });
  };
}
