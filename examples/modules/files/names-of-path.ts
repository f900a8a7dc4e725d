import { denied, ToolFailure } from 'sallyport/tool';

const MAX_NAMES = 64;
const MAX_NAME_BYTES = 255;
/** Backslashes and drive letters mean a path elsewhere. Control characters mislead a reader of the name. */
const STRANGE = /[\\\p{Cc}]|^[A-Za-z]:/u;

/**
 * The names to step through below the root; an empty list is the root itself. `..` is refused even if it would stay inside: after a link
 * or a swapped folder it does not mean what it seems to mean.
 */
export function namesOf(path: string): readonly string[] {
  if (path.startsWith('/') || STRANGE.test(path)) {
    denied('Only relative paths with "/" between the names are possible.', { code: 'PATH_REFUSED' });
  }
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) denied('A path may not contain "..".', { code: 'PATH_REFUSED' });
  if (names.length > MAX_NAMES || names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) {
    throw new ToolFailure('The path is too long.', { code: 'PATH_TOO_LONG' });
  }
  return names;
}
