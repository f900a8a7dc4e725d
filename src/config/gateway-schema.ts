import { isIP } from 'node:net';
import { group, milliseconds, option, optional, text, textList, wholeNumber, yesOrNo } from './option.ts';

export const DEFAULT_HTTP_PORT = 7411;

const HOST = /^(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;
const ORIGIN = /^https?:\/\/(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/;

const rate = group({
  perSecond: option(wholeNumber(1, 1_000_000), 500, 'Requests of one bearer per second, in the long run.'),
  burst: option(wholeNumber(1, 1_000_000), 2000, 'Requests of one bearer at once, after a pause.'),
  failuresPerMinute: option(
    wholeNumber(1, 1_000_000),
    60,
    'Wrong tokens and failed logins of one address that are answered 401. More of them get 429; right ones are let in all the same.',
  ),
});

/** The one HTTP server of a gateway: API, MCP, metrics and console. */
export const gatewayHttp = group({
  enabled: option(yesOrNo, true, 'Serve the HTTP API, the MCP endpoint and the console.'),
  host: option(text('a host name or address', /^[A-Za-z0-9._:-]{1,255}$/), '127.0.0.1', 'Where it is served.'),
  port: optional(wholeNumber(0, 65_535), 'Port of API, MCP and console; 0 is a free one.', {
    flag: '--http-port',
    otherwise: `${DEFAULT_HTTP_PORT}; dev takes the next free one`,
  }),
  open: option(yesOrNo, false, 'Allow a host that others than this machine can reach. Put TLS in front of it.'),
  hosts: optional(
    textList('a list of host names, with their port if the address has one', (name) => HOST.test(name)),
    'More names in the Host header that it answers to, such as the name of a reverse proxy.',
    { otherwise: 'its address, and the names of this machine for itself' },
  ),
  origins: optional(
    textList('a list of origins such as https://example.com', (origin) => ORIGIN.test(origin)),
    'Origins of other pages whose requests are not refused. They get no CORS headers.',
    { otherwise: 'its own' },
  ),
  trustedProxies: optional(
    textList('a list of addresses or networks such as 10.0.0.0/8', isNetwork),
    'Proxies whose X-Forwarded-For, -Proto and -Host are believed.',
    { otherwise: 'none' },
  ),
  connections: option(
    wholeNumber(8, 65_536),
    256,
    'Sockets that are open at once. One bearer gets at most half; callers without a valid token make room for others.',
  ),
  writeStallMs: option(
    milliseconds(100, 3_600_000),
    60_000,
    'A client that reads nothing for so long, while bytes wait for it, is cut, at the latest after twice that time.',
  ),
  rate: rate.prefault({}),
});

function isNetwork(given: string): boolean {
  const [address = '', prefix, ...rest] = given.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}
