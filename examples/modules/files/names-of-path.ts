import { denied, ToolFailure } from 'sallyport/tool';

const MOST_NAMES = 64;
const LONGEST_NAME_BYTES = 255;
/** Backslashes and drive letters mean a path elsewhere, control characters mislead whoever reads the name. */
const STRANGE = /[\\\p{Cc}]|^[A-Za-z]:/u;

/**
 * The names to step through below the root; an empty list is the root itself. `..` is refused even where it would stay
 * inside: after a link or a swapped folder it means something else than it seems to.
 */
export function namesOf(path: string): readonly string[] {
  if (path.startsWith('/') || STRANGE.test(path)) {
    denied('Only relative paths with "/" between the names are possible.', { code: 'PATH_REFUSED' });
  }
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) denied('A path may not contain "..".', { code: 'PATH_REFUSED' });
  if (names.length > MOST_NAMES || names.some((name) => Buffer.byteLength(name) > LONGEST_NAME_BYTES)) {
    throw new ToolFailure('The path is too long.', { code: 'PATH_TOO_LONG' });
  }
  return names;
}
