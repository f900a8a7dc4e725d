import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { rejectMessage, RPC, idOf, type JsonRpcMessage } from './json-rpc.ts';

const DECLARED = 'x-mcp-header';
const PREFIX = 'mcp-param-';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const BASE64 = /^=\?base64\?(.*)\?=$/s;
const DECIMAL = /^-?\d+(\.\d+)?$/;

interface HeaderOfProperty {
  readonly path: readonly string[];
  readonly name: string;
}

/**
 * Checks the parameters that a tool also wants in headers (`x-mcp-header`), so that proxies can route by them. Each header must repeat the
 * value in the body; otherwise a proxy could route by a value that the tool does not get. Only chains of `properties` are searched.
 */
export function checkParamHeaders(
  inputSchema: JsonObject,
  message: JsonRpcMessage,
  headers: Headers,
): Response | undefined {
  const args = isJsonObject(message['params']) ? message['params']['arguments'] : undefined;
  for (const { path, name } of declaredIn(inputSchema)) {
    const value = path.reduce<JsonValue | undefined>((at, key) => (isJsonObject(at) ? at[key] : undefined), args);
    const expected = toText(value);
    if (expected === undefined) continue;
    const given = headers.get(PREFIX + name);
    const problem =
      given === null ? 'is missing' : saysSame(given, value, expected) ? undefined : 'says something else';
    if (problem !== undefined) {
      const text = `Mcp-Param-${name} ${problem}: it must repeat arguments.${path.join('.')}.`;
      return rejectMessage(400, RPC.headerMismatch, text, { id: idOf(message) });
    }
  }
  return undefined;
}

function declaredIn(schema: JsonValue | undefined, path: readonly string[] = []): HeaderOfProperty[] {
  if (!isJsonObject(schema)) return [];
  const name = schema[DECLARED];
  const own = path.length > 0 && typeof name === 'string' && TOKEN.test(name) ? [{ path, name }] : [];
  const properties = isJsonObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  return [...own, ...properties.flatMap(([key, child]) => declaredIn(child, [...path, key]))];
}

/** Undefined for values that a header cannot carry: missing values, null, lists and objects. */
function toText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : undefined;
}

function saysSame(header: string, value: JsonValue | undefined, expected: string): boolean {
  const said = readHeader(header);
  if (said === undefined) return false;
  if (typeof value === 'number' && DECIMAL.test(said)) return Number(said) === value;
  return said === expected;
}

/** Reads a plain header, or base64 for values that a plain header cannot carry. Undefined if the base64 is broken. */
function readHeader(header: string): string | undefined {
  const [, encoded] = BASE64.exec(header) ?? [];
  if (encoded === undefined) return header;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
