import { isJsonObject, type JsonValue } from '../../base/json.ts';

/** The name of the one entry that a rewired client has. */
export const OWN_NAME = 'sallyport';

/** A program of Sallyport: the installed command, the launcher of a clone, or the file that Node runs. */
const PROGRAM = /(?:^|[\\/])sallyport(?:\.cmd)?$|[\\/]dist[\\/]cli[\\/]main\.js$/;
const LOCAL_HOST = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * Whether an entry already starts Sallyport, or reaches a gateway on this machine under our name. It must not become an upstream of itself.
 * An address elsewhere is an ordinary server: any server can have this name.
 */
export function isOwnEntry(name: string, value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const { command, args, url } = value;
  if (typeof url === 'string') return name === OWN_NAME && LOCAL_HOST.test(URL.parse(url)?.hostname ?? '');
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === 'string');
  const at = words.indexOf('mcp');
  return at > 0 && words.slice(0, at).some((word) => PROGRAM.test(word));
}
