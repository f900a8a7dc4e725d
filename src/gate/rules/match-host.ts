import { hostOfAddress, normaliseHost } from '../../base/http/host-of-address.ts';
import { ofText, type Compare } from './comparison-result.ts';

/**
 * Parses a host as a rule names it: a name, an address with or without brackets, or `*.name` for every name below it. Undefined for other
 * texts.
 */
export function readHostEntry(entry: string): { readonly name: string; readonly below: boolean } | undefined {
  const below = entry.startsWith('*.');
  const rest = below ? entry.slice(2) : entry;
  const isBareIpv6 = !rest.startsWith('[') && rest.split(':').length > 2;
  const host = isBareIpv6 ? `[${rest}]` : rest;
  // A port, a path, a user or a second star would be ignored silently, so such an entry is rejected.
  if (/[/?#\\@%*\s]|\]./u.test(host) || (!host.startsWith('[') && host.includes(':'))) return undefined;
  const name = normaliseHost(host);
  if (name === undefined || (below && /^\[|^[\d.]+$/.test(name))) return undefined;
  return { name, below };
}

/** Compares the host of an address with the entries. Throws if an entry names no host. */
export function matchHost(entries: readonly string[]): Compare {
  const names = new Set<string>();
  const endings: string[] = [];
  for (const entry of entries) {
    const read = readHostEntry(entry);
    if (read === undefined) throw new RangeError('not a host');
    if (read.below) endings.push(`.${read.name}`);
    else names.add(read.name);
  }
  return ofText((text) => {
    const host = hostOfAddress(text);
    if (host === undefined) return 'unclear';
    return names.has(host) || endings.some((ending) => host.endsWith(ending)) ? 'holds' : 'fails';
  });
}
