import { escapeHidden } from '../../base/escape-text.ts';
import { redactJson } from '../../observe/redact/redact-json.ts';
import type { Connection, LocalConnection } from './client-server.ts';
import { findPackage, programName } from './find-package.ts';

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'zsh', 'dash', 'ash', 'fish', 'ksh', 'csh', 'tcsh']);
const WINDOWS_SHELLS: ReadonlySet<string> = new Set(['cmd', 'powershell', 'pwsh']);
const INTERPRETERS: ReadonlySet<string> = new Set(['node', 'bun', 'deno', 'python', 'python3', 'perl', 'ruby', 'php']);
const RIGHTS = /(?:^|[\s;&|(/])(?:sudo|doas|pkexec|runas)(?=\s|$)/i;
const DOWNLOAD =
  /\b(?:curl|wget|fetch|iwr|irm|invoke-webrequest|invoke-restmethod)\b[^|;]{0,500}\|\s{0,9}(?:sudo\s{1,9})?(?:\/[\w/]{1,99}\/)?(?:\w*sh|python3?|node|perl|ruby|iex|invoke-expression)\b/i;
const SUBSTITUTED = /(?:\$\(|`|<\()\s*(?:curl|wget)\b/i;
const TEMPORARY =
  /(?:^|[\s"'=:,(])(?:\/private)?(?:\/var)?\/tmp(?:\/|$|\s)|\/dev\/shm(?:\/|$)|%te?mp%|\\temp\\|\$\{?TMPDIR/i;
const DECODED = /\bbase64\s+(?:-d|-D|--decode)\b|\bfrombase64string\b|-enc(?:odedcommand)?\s/i;
/** Variables that make a program load other code, or find other programs. */
const LOADING =
  /^(?:LD_\w+|DYLD_\w+|NODE_OPTIONS|NODE_PATH|PYTHONPATH|PYTHONSTARTUP|PERL5OPT|RUBYOPT|BASH_ENV|ENV|PATH|npm_config_.*)$/i;
const LOCAL_HOST = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The mark that stands where a secret would be shown. */
const MASK = (): string => '[secret]';

/** Lists what a person should look at before this server is started. An empty list does not mean that the server is harmless. */
export function findWarnings(connection: Connection): string[] {
  return connection.kind === 'local' ? localWarnings(connection) : remoteWarnings(connection.url);
}

function localWarnings({ command, args, env, cwd }: LocalConnection): string[] {
  const line = [command, ...args].join(' ');
  const program = programName(command);
  const shell = shellOf(program, args);
  const warnings: (string | false)[] = [
    shell !== undefined && `it runs a script in a shell (${shell})`,
    INTERPRETERS.has(program) &&
      args.some((word) => /^-(?:e|c|r|p|-eval|-print)$/.test(word)) &&
      `it runs code from its arguments (${program})`,
    (DOWNLOAD.test(line) || SUBSTITUTED.test(line)) && 'it downloads a script and runs it',
    DECODED.test(line) && 'it decodes a hidden script',
    RIGHTS.test(line) && 'it asks for the rights of another user (sudo)',
    (TEMPORARY.test(line) || TEMPORARY.test(cwd ?? '')) &&
      'it uses a temporary folder, where other users and programs can write',
    maskArguments(args).masked && 'a secret is in its arguments, where every user of this machine can read it',
    escapeHidden(line) !== line && 'its command line has hidden characters',
  ];
  for (const name of env.keys()) {
    if (LOADING.test(name)) warnings.push(`its variable ${name} changes which code is loaded`);
  }
  return warnings.filter((warning) => warning !== false);
}

function shellOf(program: string, args: readonly string[]): string | undefined {
  if (SHELLS.has(program)) return args.some((word) => /^-[a-z]*c$/.test(word)) ? `${program} -c` : undefined;
  // Clients on Windows start npx this way.
  if (!WINDOWS_SHELLS.has(program) || findPackage(program, args) !== undefined) return undefined;
  return program;
}

function remoteWarnings(url: string): string[] {
  const warnings: string[] = [];
  const parsed = URL.parse(url);
  if (parsed?.protocol === 'http:' && !LOCAL_HOST.test(parsed.hostname)) warnings.push('its address is not encrypted');
  if (maskAddress(url) !== url) warnings.push('a secret is in its address');
  if (escapeHidden(url) !== url) warnings.push('its address has hidden characters');
  return warnings;
}

/** The arguments with their secrets masked, as they may be shown. */
export function maskArguments(args: readonly string[]): { readonly args: string[]; readonly masked: boolean } {
  let masked = false;
  const shown = redactJson([...args], undefined, MASK, () => (masked = true)) as string[];
  return { args: shown, masked };
}

/** The address with its secrets masked. */
export function maskAddress(url: string): string {
  return redactJson(url, undefined, MASK) as string;
}
