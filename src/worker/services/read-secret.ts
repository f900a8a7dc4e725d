import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { planeError } from '../../domain/errors/errors.ts';

/** Returns the value that a reference stands for, such as `env:NAME`. Throws SERVICES_INVALID if it cannot be read. */
export type SecretSource = (reference: string) => Promise<string>;

const OTHERS_MAY_READ = 0o077;

/** Reads `env:NAME` and `file:PATH`. A relative path starts at the working directory. */
export const readSecret: SecretSource = async (reference) => {
  const [kind, ...rest] = reference.split(':');
  const name = rest.join(':');
  if (kind === 'env') return process.env[name] || refuse(`the environment has no ${name}`);
  if (kind !== 'file') return refuse('expected env:NAME or file:PATH');
  const path = resolve(name);
  let secret: string;
  try {
    if ((statSync(path).mode & OTHERS_MAY_READ) !== 0) {
      return refuse(`${path} can be read by others; use: chmod 600 ${path}`);
    }
    secret = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as { name?: unknown }).name === 'PlaneError') throw error;
    return refuse(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
  return secret === '' ? refuse(`${path} is empty`) : secret;
};

function refuse(problem: string): never {
  throw planeError('SERVICES_INVALID', { problems: [`a secret cannot be read: ${problem}`] });
}
