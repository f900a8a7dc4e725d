import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { ClientServer, Connection, EntryPlace, UnusableServer } from './client-server.ts';

const MEMBERS: ReadonlySet<string> = new Set([
  'command',
  'args',
  'env',
  'cwd',
  'type',
  'transport',
  'url',
  'serverUrl',
  'headers',
  'disabled',
  'enabled',
  // Members of Codex.
  'env_vars',
  'http_headers',
  'env_http_headers',
  'bearer_token_env_var',
]);
const MAX_ARGS = 1000;
const MAX_SETTINGS = 200;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_.()-]{0,127}$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

export type ReadServer = { readonly server: ClientServer } | { readonly unusable: UnusableServer };

class Unusable extends Error {}

/** Reads one entry of a client's file. Members that are unknown are listed, and not an error: each client has its own. */
export function readServer(place: EntryPlace, value: JsonValue): ReadServer {
  try {
    if (!isJsonObject(value)) throw new Unusable('it is not an object');
    const disabled = value['disabled'] === true || value['enabled'] === false;
    const ignored = Object.keys(value).filter((name) => !MEMBERS.has(name));
    return { server: { place, connection: readConnection(value), disabled, ignored } };
  } catch (error) {
    if (error instanceof Unusable) return { unusable: { place, problem: error.message } };
    throw error;
  }
}

function readConnection(entry: JsonObject): Connection {
  const url = entry['url'] ?? entry['serverUrl'];
  if (entry['command'] !== undefined && url !== undefined) throw new Unusable('it has a command and an address');
  if (entry['command'] !== undefined) {
    const command = textOf(entry['command'], 'command');
    if (command.trim() === '') throw new Unusable('its command is empty');
    const cwd = entry['cwd'] === undefined || entry['cwd'] === null ? undefined : textOf(entry['cwd'], 'cwd');
    return { kind: 'local', command, args: argsOf(entry['args']), env: envOf(entry), cwd };
  }
  if (url === undefined) throw new Unusable('it has neither a command nor an address');
  const address = textOf(url, 'url');
  return { kind: 'remote', url: address, transport: transportOf(entry, address), headers: headersOf(entry) };
}

function argsOf(value: JsonValue | undefined): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new Unusable('its args are not a list');
  if (value.length > MAX_ARGS) throw new Unusable(`it has more than ${MAX_ARGS} args`);
  return value.map((item) => textOf(item, 'args'));
}

/** `env_vars` of Codex names variables that are passed on. They are read as references to those variables. */
function envOf(entry: JsonObject): Map<string, string> {
  const passedOn = Array.isArray(entry['env_vars']) ? entry['env_vars'].map((name) => textOf(name, 'env_vars')) : [];
  const references = Object.fromEntries(passedOn.map((name) => [name, `\${env:${name}}`]));
  return settingsOf('env', ENV_NAME, references, entry['env']);
}

function headersOf(entry: JsonObject): Map<string, string> {
  const references: Record<string, string> = {};
  const named = entry['env_http_headers'];
  for (const [header, name] of isJsonObject(named) ? Object.entries(named) : []) {
    references[header] = `\${env:${textOf(name, 'env_http_headers')}}`;
  }
  const bearer = entry['bearer_token_env_var'];
  if (typeof bearer === 'string') references['Authorization'] = `Bearer \${env:${bearer}}`;
  return settingsOf('headers', HEADER_NAME, references, entry['http_headers'], entry['headers']);
}

function settingsOf(
  member: string,
  form: RegExp,
  references: Readonly<Record<string, string>>,
  ...values: readonly (JsonValue | undefined)[]
): Map<string, string> {
  const settings = new Map<string, string>(Object.entries(references));
  for (const value of values) {
    if (value === undefined || value === null) continue;
    if (!isJsonObject(value)) throw new Unusable(`its ${member} is not an object`);
    for (const [name, item] of Object.entries(value)) {
      // A variable with the value null is not set.
      if (item !== null) settings.set(name, textOf(item, member));
    }
  }
  if (settings.size > MAX_SETTINGS) throw new Unusable(`its ${member} has more than ${MAX_SETTINGS} members`);
  for (const [name, text] of settings) {
    if (!form.test(name)) throw new Unusable(`${JSON.stringify(name.slice(0, 100))} cannot be a name in ${member}`);
    if (member === 'headers' && /[\r\n]/.test(text)) throw new Unusable(`the header ${name} has a line break`);
  }
  return settings;
}

function transportOf(entry: JsonObject, url: string): 'http' | 'sse' {
  const parsed = url.includes('${') ? undefined : URL.parse(url);
  if (parsed === null || (parsed !== undefined && !/^https?:$/.test(parsed.protocol))) {
    throw new Unusable('its address is not one of http or https');
  }
  const type = entry['type'] ?? entry['transport'];
  if (type === 'sse') return 'sse';
  if (type === undefined || type === null) return /\/sse\/?$/.test(parsed?.pathname ?? url) ? 'sse' : 'http';
  if (typeof type === 'string' && /^(?:streamable[-_]?)?http$/i.test(type)) return 'http';
  throw new Unusable(`its type ${JSON.stringify(type).slice(0, 60)} is unknown`);
}

/** Numbers and booleans become text, as clients make them. */
function textOf(value: JsonValue, member: string): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') throw new Unusable(`its ${member} is not text`);
  if (value.includes('\0')) throw new Unusable(`its ${member} has a null character`);
  return value;
}
