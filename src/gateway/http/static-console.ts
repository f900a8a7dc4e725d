import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono, type Context } from 'hono';
import { planeError } from '../../domain/errors/errors.ts';
import { sha256 } from '../../base/sha256.ts';
import type { GatewayEnv } from './gateway-env.ts';
import { LOGIN_PAGE, LOGIN_SCRIPT, LOGIN_STYLE } from './login-page.ts';
import { CONSOLE_POLICY } from './security-headers.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
};
const COMPRESSIBLE: ReadonlySet<string> = new Set(['.html', '.js', '.css', '.svg', '.json', '.webmanifest']);
/** Cache header of files below `assets/`: the build puts a digest of the content into their names. */
const FOREVER = 'public, max-age=31536000, immutable';
const ASSETS = 'assets/';
const INDEX = 'index.html';

interface StaticFile {
  readonly bytes: Buffer;
  readonly type: string;
  readonly tag: string;
  readonly isForever: boolean;
  readonly zipped?: Buffer;
}

/** Serves the pages for people. All files are read at the start, and requests only look up names: no path of a request reaches the disk. */
export function createStaticConsole(folder: string | undefined): Hono<GatewayEnv> {
  const files = folder === undefined ? new Map<string, StaticFile>() : readFiles(folder);
  const pages = new Hono<GatewayEnv>();
  // The console brings its own login page. This one is for a gateway without a console, and for /logout.
  const logout = staticFile('login.html', Buffer.from(LOGIN_PAGE));
  const login = files.get(INDEX) ?? logout;
  const script = staticFile('login.js', Buffer.from(LOGIN_SCRIPT));
  const style = staticFile('login.css', Buffer.from(LOGIN_STYLE));

  pages.get('/', (context) => context.redirect('/console/', 302));
  pages.get('/console', (context) => context.redirect('/console/', 302));
  pages.get('/login', (context) => send(login, context));
  pages.get('/logout', (context) => send(logout, context));
  pages.get('/login.js', (context) => send(script, context));
  pages.get('/login.css', (context) => send(style, context));
  pages.get('/assets/*', (context) => send(files.get(context.req.path.slice(1)), context));
  pages.get('/console/*', (context) => {
    const name = context.req.path.slice('/console/'.length);
    // The app in the browser resolves its own paths, also ids with dots in them, so they get the index page. Only a missing asset is
    // answered as not found.
    const isPage = !name.startsWith(ASSETS);
    return send(files.get(name) ?? (isPage ? files.get(INDEX) : undefined), context);
  });
  return pages;
}

/** Writes the file without the framework, whose responses copy their bytes. So all responses share the one buffer of a file. */
function send(file: StaticFile | undefined, { env }: Context<GatewayEnv>): Response {
  if (file === undefined) throw planeError('HTTP_PATH_UNKNOWN', {});
  const { incoming, outgoing } = env;
  const headers = {
    'content-type': file.type,
    etag: file.tag,
    'cache-control': file.isForever ? FOREVER : 'no-cache',
    'content-security-policy': CONSOLE_POLICY,
  };
  if (incoming.headers['if-none-match'] === file.tag) {
    outgoing.writeHead(304, headers).end();
    return RESPONSE_ALREADY_SENT;
  }
  const takesZipped = /\bgzip\b/.test(String(incoming.headers['accept-encoding'] ?? ''));
  const zipped = takesZipped ? file.zipped : undefined;
  const bytes = zipped ?? file.bytes;
  outgoing.writeHead(200, {
    ...headers,
    vary: 'Accept-Encoding',
    'content-length': bytes.length,
    ...(zipped === undefined ? {} : { 'content-encoding': 'gzip' }),
  });
  outgoing.end(bytes);
  return RESPONSE_ALREADY_SENT;
}

function readFiles(folder: string): Map<string, StaticFile> {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return new Map();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile() && Object.hasOwn(TYPES, extname(entry.name)))
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const name = relative(folder, path).split(sep).join('/');
        return [name, staticFile(name, readFileSync(path))];
      }),
  );
}

function staticFile(name: string, bytes: Buffer): StaticFile {
  const extension = extname(name);
  return {
    bytes,
    type: TYPES[extension]!,
    tag: `"${sha256(bytes).slice(0, 32)}"`,
    isForever: name.startsWith(ASSETS),
    ...(COMPRESSIBLE.has(extension) ? { zipped: gzipSync(bytes, { level: 9 }) } : {}),
  };
}
